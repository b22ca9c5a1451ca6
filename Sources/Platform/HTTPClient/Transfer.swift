import CCurl
import Reactor

/// One request under way: its easy handle and what has come of the response so far.
///
/// Made by the caller, used by the client's thread from then on.
final class Transfer: @unchecked Sendable {
  private let request: HTTPRequest
  private let completion: @Sendable (Result<HTTPResponse, HTTPClientError>) -> Void
  private var handle: UnsafeMutableRawPointer?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var headers: [(name: String, value: String)] = []
  private var headerBytes = 0
  private var body: [UInt8] = []
  private var isTooLarge = false

  init(
    _ request: HTTPRequest,
    completion: @escaping @Sendable (Result<HTTPResponse, HTTPClientError>) -> Void
  ) {
    self.request = request
    self.completion = completion
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headerList)
    errorText.deallocate()
  }

  func complete(_ result: Result<HTTPResponse, HTTPClientError>) {
    completion(result)
  }

  /// Builds the easy handle; it lives as long as the transfer.
  func prepare() throws(HTTPClientError) -> UnsafeMutableRawPointer {
    try checkForControlCharacters()
    guard let handle = curl_easy_init() else {
      throw HTTPClientError(.busy, "out of memory for an HTTP request")
    }
    self.handle = handle
    for (option, value) in try longOptions() {
      try check(ccurl_easy_setopt_long(handle, option, value))
    }
    for (option, value) in stringOptions() {
      try check(ccurl_easy_setopt_pointer(handle, option, value))
    }
    if let pem = request.authorities {
      try check(ccurl_easy_setopt_blob(handle, CURLOPT_CAINFO_BLOB, pem, pem.count))
    }
    if !request.body.isEmpty {
      // The size comes first: COPYPOSTFIELDS copies that many bytes.
      try check(
        ccurl_easy_setopt_long(handle, CURLOPT_POSTFIELDSIZE_LARGE, request.body.count))
      try check(ccurl_easy_setopt_pointer(handle, CURLOPT_COPYPOSTFIELDS, request.body))
    }
    try check(ccurl_easy_setopt_pointer(handle, CURLOPT_CUSTOMREQUEST, request.method))
    // No "100 Continue" round trip for a body of a few kilobytes.
    var lines = ["Expect:"]
    lines += request.headers.map { "\($0.name): \($0.value)" }
    for line in lines {
      guard let list = curl_slist_append(headerList, line) else {
        throw HTTPClientError(.busy, "out of memory for an HTTP request")
      }
      headerList = list
    }
    try check(ccurl_easy_setopt_pointer(handle, CURLOPT_HTTPHEADER, headerList))
    try check(ccurl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
    let context = Unmanaged.passUnretained(self).toOpaque()
    try check(ccurl_easy_setopt_write(handle, receiveBody, context))
    try check(ccurl_easy_setopt_header(handle, receiveHeader, context))
    try check(ccurl_easy_setopt_tls(handle, restrictTLS, context))
    return handle
  }

  /// Returns the result of the finished transfer.
  func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPClientError> {
    guard code == CURLE_OK else { return .failure(error(code)) }
    var status = 0
    _ = ccurl_easy_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
    return .success(HTTPResponse(status: status, headers: headers, body: body))
  }

  private func longOptions() throws(HTTPClientError) -> [(CURLoption, Int)] {
    guard request.timeoutMs > 0 else {
      throw HTTPClientError(.invalidRequest, "the timeout of an HTTP request must be above 0 ms")
    }
    return [
      // Without it libcurl may use SIGALRM, which no threaded program can have.
      (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_TIMEOUT_MS, request.timeoutMs),
      (CURLOPT_CONNECTTIMEOUT_MS, request.timeoutMs),
      (CURLOPT_FOLLOWLOCATION, 0),
      (CURLOPT_SSL_VERIFYPEER, 1),
      (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
      (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      (CURLOPT_TCP_KEEPALIVE, 1),
      (CURLOPT_NOBODY, request.method == "HEAD" ? 1 : 0),
    ]
  }

  private func stringOptions() -> [(CURLoption, String)] {
    var options = [
      (CURLOPT_URL, request.url),
      (CURLOPT_PROTOCOLS_STR, "http,https"),
      // An empty proxy also switches the environment's off.
      (CURLOPT_PROXY, request.proxy?.url ?? ""),
      // Nor do its exceptions count: what is configured to go through a proxy never goes past it.
      (CURLOPT_NOPROXY, ""),
    ]
    if let login = request.proxy?.login {
      options.append((CURLOPT_PROXYUSERNAME, login.user))
      options.append((CURLOPT_PROXYPASSWORD, login.password))
    }
    return options
  }

  /// A CR or LF in a header would be a second header or a second request.
  private func checkForControlCharacters() throws(HTTPClientError) {
    let fields = request.headers.flatMap { [$0.name, $0.value] } + [request.method, request.url]
    for field in fields where field.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      throw HTTPClientError(
        .invalidRequest, "a method, URL or header of an HTTP request holds a control character")
    }
    for header in request.headers
    where header.name.isEmpty || header.name.utf8.contains(where: { $0 == 0x3a || $0 == 0x20 }) {
      throw HTTPClientError(
        .invalidRequest, "a header name of an HTTP request is empty or holds ':' or a space")
    }
  }

  private func check(_ code: CURLcode) throws(HTTPClientError) {
    if code != CURLE_OK { throw error(code) }
  }

  private func error(_ code: CURLcode) -> HTTPClientError {
    if isTooLarge {
      return HTTPClientError(
        .responseTooLarge,
        "the response of \(origin) exceeds \(HTTPClientLimits.bodyBytesMax) bytes")
    }
    if let failure = tunnelFailure {
      return HTTPClientError(.proxy, "\(origin): \(failure)")
    }
    let detail =
      errorText[0] != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(code))
    if let proxy = request.proxy, isFault(of: proxy, code) {
      return HTTPClientError(.proxy, "\(origin): the proxy \(proxy.endpoint): \(detail)")
    }
    return HTTPClientError(Self.meaning(of: code), "\(origin): \(detail)")
  }

  /// Why the proxy opened no tunnel, where it said so: libcurl calls that data that could not be received.
  private var tunnelFailure: StreamFailure? {
    var status = 0
    guard let proxy = request.proxy,
      ccurl_easy_getinfo_long(handle, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK, status >= 300
    else { return nil }
    return proxy.failure(ofConnect: status)
  }

  /// Whether the transfer ended at the proxy, before anything was heard of the host.
  private func isFault(of proxy: ProxyServer, _ code: CURLcode) -> Bool {
    switch code {
    // Connections lead to the proxy alone.
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY: return true
    default:
      guard proxy.way == .http, origin.lowercased().hasPrefix("https:") else { return false }
      // A transfer over an earlier one's tunnel has opened no connection, and no status of CONNECT either.
      var (opened, status) = (0, 0)
      _ = ccurl_easy_getinfo_long(handle, CURLINFO_NUM_CONNECTS, &opened)
      _ = ccurl_easy_getinfo_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
      return opened > 0 && !(200..<300).contains(status)
    }
  }

  private static func meaning(of code: CURLcode) -> HTTPClientError.Code {
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT:
      .invalidRequest
    case CURLE_COULDNT_RESOLVE_HOST: .unresolved
    case CURLE_COULDNT_CONNECT: .unreachable
    case CURLE_OPERATION_TIMEDOUT: .timedOut
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
      .insecure
    default: .broken
    }
  }

  /// Scheme, host and port: all of the URL that is fit for an error message.
  private var origin: String {
    let url = request.url
    guard let scheme = url.firstIndex(of: ":") else { return "HTTP request" }
    let start = url.index(scheme, offsetBy: 3, limitedBy: url.endIndex) ?? url.endIndex
    let rest = url[start...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    return "\(url[..<scheme])://\(host)"
  }

  /// The host of the URL, which the certificate must carry.
  fileprivate var host: String {
    guard let colon = origin.firstIndex(of: ":") else { return "" }
    let authority = origin[colon...].dropFirst(3)
    if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
    return String(authority.prefix { $0 != ":" })
  }

  fileprivate func append(body bytes: UnsafeRawBufferPointer) -> Bool {
    guard body.count + bytes.count <= HTTPClientLimits.bodyBytesMax else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  fileprivate func append(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= HTTPClientLimits.headerBytesMax else {
      isTooLarge = true
      return false
    }
    let line = bytes.prefix { $0 != 0x0d && $0 != 0x0a }
    if line.starts(with: "HTTP/".utf8) {
      // A new status line: what came before belonged to an interim response.
      headers.removeAll()
    } else if let colon = line.firstIndex(of: 0x3a) {
      let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      headers.append(
        (
          name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
          value: String(decoding: value, as: UTF8.self)
        ))
    }
    return true
  }
}

private func restrictTLS(
  _ handle: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let tls, let context else { return CURLE_SSL_CERTPROBLEM }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  do throws(TLSError) {
    try TLSContext.restrict(tls, serverName: transfer.host)
    return CURLE_OK
  } catch {
    return CURLE_SSL_CERTPROBLEM
  }
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let length = size * count
  return transfer.append(body: UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
}

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let length = size * count
  return transfer.append(headerLine: UnsafeRawBufferPointer(start: bytes, count: length))
    ? length : -1
}
