internal import CNGHTTP2
internal import Glibc
internal import HTTP2
package import Reactor

/// One HTTP/2 connection in the server role, over an accepted socket; loop-bound.
package final class ServerConnection {
  package let id: UInt64
  private let loop: EventLoop
  let settings: ServerSettings
  unowned let delegate: any ServerConnectionDelegate
  var session: OpaquePointer?
  private(set) var stream: ByteStream!
  /// Every request object, as many as there were streams at once; the idle ones are reused.
  private var requests: [ServerRequest] = []
  private var idleRequests: [ServerRequest] = []
  /// Streams whose requests are being received or answered.
  package private(set) var openStreams = 0
  /// Whether GOAWAY was said.
  package private(set) var isClosing = false

  /// Takes over an accepted socket and begins.
  package init(
    id: UInt64, loop: EventLoop, descriptor: CInt, tls: TLSContext?, settings: ServerSettings,
    delegate: any ServerConnectionDelegate
  ) {
    self.id = id
    self.loop = loop
    self.settings = settings
    self.delegate = delegate
    stream = ByteStream(loop: loop, delegate: self)
    stream.adopt(descriptor: descriptor, tls: tls)
  }

  deinit { nghttp2_session_del(session) }

  package var clientShowedCertificate: Bool { stream.peerShowedCertificate }

  var isOpen: Bool { stream.isOpen }

  // MARK: Answers

  /// Answers with a prepared head; nothing happens when the stream has closed meanwhile.
  package func respond(_ request: ServerRequest, head: ResponseHead, body: [UInt8] = []) {
    respond(request, fields: head.list.fields, body: body)
  }

  /// Answers with fields of this answer's own, which are copied.
  package func respond(
    _ request: ServerRequest, status: Int, headers: [(name: String, value: String)],
    body: [UInt8] = []
  ) {
    let head = ResponseHead(status: status, headers: headers)
    for index in head.list.fields.indices { head.list.fields[index].flags = 0 }
    respond(request, fields: head.list.fields, body: body)
    withExtendedLifetime(head) {}
  }

  private func respond(
    _ request: ServerRequest, fields: UnsafeMutableBufferPointer<nghttp2_nv>, body: [UInt8]
  ) {
    guard !request.isClosed, !request.isAnswered else { return }
    request.isAnswered = true
    if body.isEmpty {
      nghttp2_submit_response(
        session, request.streamID, fields.baseAddress, fields.count, nil)
    } else {
      request.answerBody = body
      var provider = nghttp2_data_provider()
      provider.read_callback = readAnswerBody
      nghttp2_submit_response(
        session, request.streamID, fields.baseAddress, fields.count, &provider)
    }
    stream.requestFlush()
  }

  /// Ends a stream with RST_STREAM; after an answer too, as RFC 9113, 8.1 allows with NO_ERROR.
  package func reset(_ request: ServerRequest, errorCode: UInt32) {
    guard !request.isClosed else { return }
    nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), request.streamID, errorCode)
    stream.requestFlush()
  }

  // MARK: The connection

  /// Says GOAWAY; the client closes when the streams up to the last one have ended.
  /// - Parameter lastStreamID: what was processed; all that arrived when nil.
  package func goAway(lastStreamID: Int32? = nil, errorCode: UInt32 = 0, debugData: String = "") {
    guard session != nil, stream.isOpen else { return }
    isClosing = true
    let data = Array(debugData.utf8)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue),
      lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session), errorCode, data, data.count)
    stream.requestFlush()
  }

  package func changeMaxConcurrentStreams(_ count: UInt32) {
    guard session != nil, stream.isOpen else { return }
    var entry = nghttp2_settings_entry(
      settings_id: CInt(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: count)
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    stream.requestFlush()
  }

  /// Stops or resumes reading the socket, as a server that hangs does.
  package func stallReads(_ isStalled: Bool) {
    if isStalled { stream.pauseReading() } else { stream.resumeReading() }
  }

  package func close() { stream.close() }

  /// Cuts the TCP connection without a word.
  package func abort() { stream.abort() }

  // MARK: Requests

  func beginRequest(streamID: Int32) -> ServerRequest {
    let request = idleRequests.popLast() ?? makeRequest()
    request.begin(streamID: streamID)
    openStreams += 1
    return request
  }

  func endRequest(_ request: ServerRequest) {
    request.isClosed = true
    openStreams -= 1
    idleRequests.append(request)
  }

  private func makeRequest() -> ServerRequest {
    let request = ServerRequest()
    requests.append(request)
    return request
  }
}

extension ServerConnection: ByteStreamDelegate {
  package func streamDidOpen(_ stream: ByteStream) {
    session = makeServerSession(for: self)
    delegate.connectionOpened(self)
    stream.requestFlush()
  }

  package func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    withExtendedLifetime(self) {
      let taken = nghttp2_session_mem_recv(
        session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
      guard taken >= 0 else {
        guard stream.isOpen else { return }
        delegate.connection(
          self, sawViolation: String(cString: nghttp2_strerror(CInt(taken))))
        return stream.close()
      }
      stream.requestFlush()
    }
  }

  package func streamFillsOutput(_ stream: ByteStream) {
    withExtendedLifetime(self) {
      while stream.isOpen, stream.outputWaiting < ReactorLimits.outputLowWaterBytes {
        var frame: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(session, &frame)
        guard count > 0 else {
          if count < 0 { stream.close() }
          break
        }
        _ = stream.write(UnsafeRawBufferPointer(start: frame, count: count))
      }
      guard stream.isOpen, stream.outputWaiting == 0 else { return }
      let isOver =
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
      // After a GOAWAY the client closes: a socket closed with bytes unread is reset, and the client
      // would lose answers that are on their way.
      if isOver && !isClosing { stream.close() }
    }
  }

  package func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    for request in requests { request.isClosed = true }
    delegate.connectionClosed(self)
  }
}

/// Who answers the requests of server connections; every call comes on the loop.
package protocol ServerConnectionDelegate: AnyObject {
  /// TLS is settled and SETTINGS are queued.
  func connectionOpened(_ connection: ServerConnection)

  /// The header fields are there, the body is not: the place to answer early.
  func connection(_ connection: ServerConnection, receivedHeadersOf request: ServerRequest)

  /// The whole request is there, unless it was answered already.
  func connection(_ connection: ServerConnection, received request: ServerRequest)

  /// The client did what the protocol or our SETTINGS forbid, such as too many streams.
  func connection(_ connection: ServerConnection, sawViolation reason: String)

  func connectionClosed(_ connection: ServerConnection)
}

/// How a server connection behaves.
package struct ServerSettings {
  /// SETTINGS_MAX_CONCURRENT_STREAMS at the start.
  package var maxConcurrentStreams: UInt32 = 1000
  /// How many stream resets a client may cause before it is cut off, and how many more a second
  /// (the defence against rapid reset, CVE-2023-44487, as nghttp2 sets it by default).
  package var resetBurst: UInt64 = 1000
  package var resetsPerSecond: UInt64 = 33
  /// Whether the windows of what clients send are opened again as it is read (RFC 9113, 5.2).
  package var opensWindows = true

  package init() {}
}
