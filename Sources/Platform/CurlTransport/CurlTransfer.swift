import CCurl
import HTTP2
import Reactor

/// One easy handle of a pool with the request it carries; used again and again.
final class CurlTransfer {
  let target: CurlTarget
  let sockets: CurlSockets
  let connections: CurlConnections
  let handle: UnsafeMutableRawPointer
  private var url: [CChar]
  private var headers: CurlHeaders?
  private let errorText: UnsafeMutablePointer<CChar>

  private(set) var tag: UInt64 = 0
  private(set) var startedNs: UInt64 = 0
  private(set) var isRunning = false
  var upload = CurlUpload()
  /// The connection that it was begun on; nil while not a byte of it can have been written.
  var connection: CurlConnection?
  /// Whether it only opens a connection and sends nothing.
  let isProbe: Bool
  /// Whether a probe's connection stands.
  var hasConnected = false
  var answer = CurlAnswer()

  /// - Returns: nil when memory ran out.
  init?(
    isProbe: Bool, to target: CurlTarget, sockets: CurlSockets, connections: CurlConnections
  ) {
    guard let handle = curl_easy_init() else { return nil }
    self.target = target
    self.sockets = sockets
    self.connections = connections
    self.isProbe = isProbe
    self.handle = handle
    url = target.origin.map { CChar(bitPattern: $0) }
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    _ = ccurl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    guard configure() else { return nil }
  }

  deinit {
    curl_easy_cleanup(handle)
    errorText.deallocate()
    upload.free()
  }

  /// Makes it carry this request.
  func prepare(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64,
    nowNs: UInt64
  ) -> Bool {
    let headers = CurlHeaders(head)
    guard ccurl_easy_setopt_pointer(handle, CURLOPT_HTTPHEADER, headers.list) == CURLE_OK else {
      return false
    }
    // libcurl reads the list when it sends, so it stays until it is replaced.
    self.headers = headers
    url.removeSubrange(target.origin.count...)
    if let fixed = headers.path {
      for byte in fixed { url.append(CChar(bitPattern: byte)) }
    } else {
      for byte in path { url.append(CChar(bitPattern: byte)) }
    }
    url.append(0)
    guard ccurl_easy_setopt_pointer(handle, CURLOPT_URL, url) == CURLE_OK,
      ccurl_easy_setopt_long(handle, CURLOPT_POSTFIELDSIZE_LARGE, body.count) == CURLE_OK
    else { return false }
    self.tag = tag
    startedNs = nowNs
    upload.begin(body)
    connection = nil
    answer = CurlAnswer()
    errorText[0] = 0
    isRunning = true
    return true
  }

  /// Makes it open a connection.
  func prepareProbe() -> Bool {
    url.removeSubrange(target.origin.count...)
    url.append(0)
    hasConnected = false
    errorText[0] = 0
    isRunning =
      ccurl_easy_setopt_pointer(handle, CURLOPT_URL, url) == CURLE_OK
      && ccurl_easy_setopt_long(handle, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK
    return isRunning
  }

  /// Lets go of the request.
  func rest() {
    isRunning = false
    connection = nil
    upload.end()
  }

  /// The answer, which is taken out.
  func takeAnswer() -> CurlAnswer {
    var taken = CurlAnswer()
    swap(&taken, &answer)
    return taken
  }

  /// Whether the peer reset its stream, unanswered, as a breach of the protocol. libcurl tells the stream's error in words only,
  /// and from 8.12 on who reset it.
  func isCalledMalformed(_ code: CURLcode) -> Bool {
    guard code == CURLE_HTTP2_STREAM, answer.status == 0 else { return false }
    let text = text(code)
    return text.contains("PROTOCOL_ERROR") && !text.contains("by curl")
  }

  /// Words for how it ended, libcurl's but for a proxy's refusal; no header, path or body is in them.
  func text(_ code: CURLcode) -> String {
    var connectStatus = 0
    if let proxy = target.settings.proxy,
      ccurl_easy_getinfo_long(handle, CURLINFO_HTTP_CONNECTCODE, &connectStatus) == CURLE_OK,
      connectStatus >= 300
    {
      return "\(proxy.failure(ofConnect: connectStatus))"
    }
    let text =
      errorText[0] != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(code))
    return String(text.prefix(CurlLimits.textBytesMax))
  }
}

/// The body of a request as libcurl takes it, piece by piece.
struct CurlUpload {
  /// The rest of it.
  private var left = RequestBody(before: .init(start: nil, count: 0))
  private var copy = BodyCopy()

  mutating func begin(_ body: RequestBody) { left = body.isCopied ? copy.hold(body) : body }

  mutating func end() { left = RequestBody(before: .init(start: nil, count: 0)) }

  /// - Returns: how many bytes were copied.
  mutating func take(into room: UnsafeMutableRawBufferPointer) -> Int { left.take(into: room) }

  func free() { copy.free() }
}
