import CCurl
import HTTP2
import Reactor

/// One easy handle of a pool with the request it carries; used again and again.
final class CurlTransfer {
  unowned let pool: CurlPool
  let handle: UnsafeMutableRawPointer
  /// Scheme, host and port, to which each request's path is put.
  private let origin: [UInt8]
  private var url: [CChar]
  private var headers: CurlHeaders?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  private(set) var tag: UInt64 = 0
  private(set) var startedNs: UInt64 = 0
  private(set) var isRunning = false
  /// The rest of the request's body.
  var bodyLeft = RequestBody(before: .init(start: nil, count: 0))
  private var bodyCopy = BodyCopy()
  /// The connection that it was begun on; nil while not a byte of it can have been written.
  var connection: CurlConnection?
  /// Whether it only opens a connection and sends nothing.
  let isProbe: Bool
  /// Whether a probe's connection stands.
  var hasConnected = false
  /// 0 until a status line came.
  var status = 0
  var retryAfter = RetryAfter()
  /// Whether the answer's Content-Type is JSON's, and what it is otherwise.
  var hasJSONType = false
  var oddType: [UInt8] = []
  /// The body of the answer, up to a bound.
  var answerBody: [UInt8] = []
  /// Whether the answer had more length than is kept: libcurl was told to stop there.
  var isAnswerCut = false

  init(pool: CurlPool, handle: UnsafeMutableRawPointer, origin: [UInt8], isProbe: Bool) {
    self.pool = pool
    self.isProbe = isProbe
    self.handle = handle
    self.origin = origin
    url = origin.map { CChar(bitPattern: $0) }
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    _ = ccurl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
  }

  deinit {
    curl_easy_cleanup(handle)
    errorText.deallocate()
    bodyCopy.free()
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
    url.removeSubrange(origin.count...)
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
    bodyLeft = body.isCopied ? bodyCopy.hold(body) : body
    connection = nil
    status = 0
    isAnswerCut = false
    hasJSONType = false
    oddType = []
    retryAfter = RetryAfter()
    errorText[0] = 0
    isRunning = true
    return true
  }

  /// Makes it open a connection.
  func prepareProbe() -> Bool {
    url.removeSubrange(origin.count...)
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
    bodyLeft = RequestBody(before: .init(start: nil, count: 0))
  }

  /// The answer's Content-Type, which is taken out.
  func takeType() -> [UInt8] {
    guard oddType.isEmpty else {
      var type: [UInt8] = []
      swap(&type, &oddType)
      return type
    }
    return hasJSONType ? Self.jsonType : []
  }

  private static let jsonType = Array(ContentType.json)

  /// The answer's body, which is taken out.
  func takeAnswerBody() -> [UInt8] {
    guard !answerBody.isEmpty else { return [] }
    var body: [UInt8] = []
    swap(&body, &answerBody)
    return body
  }

  /// Whether the peer reset its stream, unanswered, as a breach of the protocol. libcurl tells the stream's error in words only,
  /// and from 8.12 on who reset it.
  func isCalledMalformed(_ code: CURLcode) -> Bool {
    guard code == CURLE_HTTP2_STREAM, status == 0 else { return false }
    let text = text(code)
    return text.contains("PROTOCOL_ERROR") && !text.contains("by curl")
  }

  /// Words for how it ended, libcurl's but for a proxy's refusal; no header, path or body is in them.
  func text(_ code: CURLcode) -> String {
    var connectStatus = 0
    if let proxy = pool.settings.proxy,
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
