internal import CNGHTTP2
internal import Glibc
package import Reactor

/// One HTTP/2 connection in the client role; loop-bound.
///
/// It pulls: whenever it flushes and the server allows more streams, its owner is asked for requests. So nothing waits inside it.
package final class ClientConnection: RequestTaker {
  let loop: EventLoop
  let settings: ClientSettings
  private(set) unowned var owner: any ClientConnectionOwner
  var slots: SlotTable
  var session: OpaquePointer?
  /// The memory that the session's streams are made in.
  let memory: OpaquePointer?
  /// The slot that was looked for last.
  var recentSlot: Int32 = 0
  private(set) var stream: ByteStream!
  private var deadlineTimer: LoopTimer!
  private var keepAliveTimer: LoopTimer!

  /// The number of streams that the server allows at once; nil until its SETTINGS arrived.
  var streamsAllowed: Int?
  /// Whether an answer has shown that the credential is accepted.
  var isAuthorised: Bool
  var isDraining = false
  var answered = 0
  /// How many requests the server has taken by its own word, as it let go of the connection and complained of nothing.
  var takenByServer = 0
  /// How many requests it takes, then it drains: what its pool has learned of the server.
  var requestsMax = Int.max
  /// How many streams it uses at most, when connections have broken lately: what they would take with them is spread.
  var streamsMax: Int
  /// Requests whose answers its end took with it.
  private(set) var unanswered = 0
  private(set) var submitted = 0
  let createdNs: UInt64
  /// When it was made, or a request was submitted last.
  private(set) var usedNs: UInt64
  /// Whether the pool has seen to this connection's successor already.
  var isReplaced = false
  var troubleRow = TroubleRow()
  private(set) var answeredNs: UInt64 = 0
  /// When the latest of the requests that were answered was submitted.
  private(set) var overtakenNs: UInt64 = 0
  var end: ConnectionEnd?
  /// How many requests there were when the peer closed it because of one of them; nil unless it said PROTOCOL_ERROR.
  private var accused: Int?
  /// The last thing that the peer did wrong.
  var peerError: String?
  private var lastReadNs: UInt64 = 0
  private var pingSentNs: UInt64?
  /// A request timed out in a silence: until something is read, as the answer to a PING, nothing more is sent here.
  private var isUnresponsive = false
  /// Whether the peer ended it, though it was of use.
  private var isCutOff = false

  init(loop: EventLoop, settings: ClientSettings, owner: any ClientConnectionOwner) {
    self.loop = loop
    self.settings = settings
    self.owner = owner
    slots = SlotTable(capacity: settings.streamsMax)
    streamsMax = settings.streamsMax
    memory = cnghttp2_pool_create()
    isAuthorised = !settings.startsWithOneStream
    createdNs = loop.nowNs
    usedNs = createdNs
    stream = ByteStream(loop: loop, delegate: self)
    // Both are cancelled when the stream closes, until which it keeps this object. A weak reference
    // would move the object's counts to a side table and make every retain on the hot path slow.
    deadlineTimer = LoopTimer(loop: loop) { [unowned self] in expireRequests() }
    keepAliveTimer = LoopTimer(loop: loop) { [unowned self] in checkAlive() }
  }

  deinit {
    deadlineTimer.cancel()
    keepAliveTimer.cancel()
    nghttp2_session_del(session)
    cnghttp2_pool_free(memory)
  }

  func open() {
    stream.connect(
      to: settings.endpoint, through: settings.proxy, tls: settings.tls,
      serverName: settings.serverName, timeoutMs: settings.connectTimeoutMs)
  }

  /// Whether it is known to take requests by the hundred.
  var isCarrying: Bool { streamsAllowed != nil && isAuthorised && !isDraining && !isUnresponsive }

  /// Requests in flight.
  package var inFlight: Int { slots.inFlight }

  /// Whether it has taken all that it takes.
  var isSpent: Bool { submitted >= requestsMax }

  /// How many requests may be submitted now.
  package var room: Int {
    guard !isDraining, !isUnresponsive, let streamsAllowed else { return 0 }
    let allowed = isAuthorised ? min(streamsAllowed, streamsMax) : min(streamsAllowed, 1)
    return max(0, allowed - slots.inFlight)
  }

  /// To be called only while `room` is above 0; false when the connection is draining.
  package func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool {
    // It may have been closed since its owner was asked.
    guard !isDraining else { return false }
    usedNs = loop.nowNs
    let index = slots.take(tag: tag, body: body, startedNs: usedNs)
    var provider = nghttp2_data_provider()
    provider.source.ptr = UnsafeMutableRawPointer(bitPattern: Int(index))
    provider.read_callback = readRequestBody
    let streamID = head.withFields(path: path) { fields in
      nghttp2_submit_request(
        session, nil, fields.baseAddress, fields.count, &provider,
        UnsafeMutableRawPointer(bitPattern: Int(index) + 1))
    }
    guard streamID > 0 else {
      // Stream numbers ran out (RFC 9113, 5.1.1) or memory did: this connection is at its end.
      _ = slots.release(index)
      drain()
      return false
    }
    slots[index].streamID = streamID
    submitted += 1
    if isSpent { drain() }
    if !deadlineTimer.isArmed { deadlineTimer.schedule(afterMs: settings.requestTimeoutMs) }
    return true
  }

  /// Has the owner asked for requests at the end of this turn.
  func wake() {
    if room > 0 {
      stream.requestFlush()
    } else if streamsAllowed != nil, !isDraining, isAuthorised || isUnresponsive {
      owner.connectionIsFull(self)
    }
  }

  /// Takes no more requests; closes when those in flight have ended.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    owner.connectionIsDraining(self)
    stream.requestFlush()
  }

  /// The peer closes the connection because of what we sent (GOAWAY with PROTOCOL_ERROR).
  func noteAccusation() {
    if accused == nil { accused = slots.inFlight }
  }

  /// Closes now; requests in flight end as `unknown` or `notSent`.
  func close(_ reason: ConnectionEnd = .closed) {
    if end == nil { end = reason }
    stream.close()
  }

  /// Closes now and tells nobody: its owner is going away.
  func abandon() {
    owner = NoClientConnectionOwner.shared
    close()
  }

  // MARK: Ends of requests

  /// Ends one request; the slot is free again before the owner hears of it.
  func finish(_ index: Int32, _ disposition: RequestAnswer.Disposition) {
    let slot = slots.release(index)
    let wasAnswered = disposition == .answered
    let ending = !wasAnswered && accused == 1 ? .malformed : disposition
    if wasAnswered {
      answered += 1
      answeredNs = loop.nowNs
      overtakenNs = max(overtakenNs, slot.startedNs)
      if slot.status != 403 { isAuthorised = true }
    }
    if slot.hasOddType {
      slots.takeType(index).withUnsafeBytes { tell(slot, index, ending, contentType: $0) }
    } else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      tell(slot, index, ending, contentType: slot.hasType ? ContentType.json : none)
    }
    stream.requestFlush()
  }

  private func tell(
    _ slot: RequestSlot, _ index: Int32, _ ending: RequestAnswer.Disposition,
    contentType: UnsafeRawBufferPointer
  ) {
    let wasAnswered = ending == .answered
    // Taken out first: whoever hears of the end may look at this connection.
    slots.takeBody(index).withUnsafeBytes { body in
      owner.connection(
        self, finished: slot.tag,
        with: RequestAnswer(
          disposition: ending, status: wasAnswered ? Int(slot.status) : 0,
          retryAfter: slot.retryAfter, body: body, isBodyCut: slot.isBodyCut,
          elapsedNs: loop.nowNs &- slot.startedNs, isRefused: ending == .notSent && slot.isReset,
          isAccused: accused != nil && !wasAnswered, isCutOff: isCutOff && ending == .unknown,
          isAccepted: wasAnswered && slot.status == 200
            && settings.acceptedForm.isMet(
              byBodyOf: body.count, isRecognised: slot.isRecognised),
          isPartial: !slot.isEnded, contentType: contentType))
    }
  }

  /// Says what a stream's end means for its request.
  func disposition(of slot: RequestSlot, errorCode: UInt32) -> RequestAnswer.Disposition {
    // A status that stands in headers without an end is none.
    let status = slot.hasHeaders ? slot.status : 0
    // A complete answer stands whatever follows it (RFC 9113, 8.1), and a 200 is a yes.
    if slot.isEnded || status == 200 { return .answered }
    if status >= 200 && errorCode == NGHTTP2_NO_ERROR.rawValue { return .answered }
    if slot.status == 0 && errorCode == NGHTTP2_REFUSED_STREAM.rawValue { return .notSent }
    // The peer's own word; nghttp2 says the same of an answer that is malformed.
    if slot.status == 0 && slot.isReset && errorCode == NGHTTP2_PROTOCOL_ERROR.rawValue {
      return .malformed
    }
    return .unknown
  }

  private func expireRequests() {
    while slots.oldest >= 0 {
      let slot = slots[slots.oldest]
      let deadline = slot.startedNs &+ settings.requestTimeoutMs &* 1_000_000
      guard deadline <= loop.nowNs else {
        deadlineTimer.schedule(afterMs: (deadline - loop.nowNs + 999_999) / 1_000_000)
        return
      }
      if isSilentForRequests { checkResponsive() }
      let ending = dispositionWhenCut(slot)
      nghttp2_session_set_stream_user_data(session, slot.streamID, nil)
      nghttp2_submit_rst_stream(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.streamID, NGHTTP2_CANCEL.rawValue)
      finish(slots.oldest, ending)
    }
  }

  /// Says what it means for a request that we give up its stream or lose the connection.
  private func dispositionWhenCut(_ slot: RequestSlot) -> RequestAnswer.Disposition {
    // nghttp2 makes the stream when it frames the HEADERS: without one, nothing was written.
    guard session != nil, nghttp2_session_find_stream(session, slot.streamID) != nil else {
      return .notSent
    }
    return disposition(of: slot, errorCode: NGHTTP2_CANCEL.rawValue)
  }

  private func failAll() {
    while slots.oldest >= 0 {
      finish(slots.oldest, dispositionWhenCut(slots[slots.oldest]))
    }
  }

  // MARK: Keep-alive

  private func checkAlive() {
    // Anything that was read since is as good as the answer to the PING.
    if let pingSentNs, lastReadNs <= pingSentNs {
      let waitedMs = (loop.nowNs &- pingSentNs) / 1_000_000
      guard waitedMs < settings.pingTimeoutMs else { return close(.silent) }
      return keepAliveTimer.schedule(afterMs: settings.pingTimeoutMs - waitedMs)
    }
    pingSentNs = nil
    let silentMs = (loop.nowNs &- lastReadNs) / 1_000_000
    guard silentMs >= settings.pingAfterMs else {
      return keepAliveTimer.schedule(afterMs: settings.pingAfterMs - silentMs)
    }
    if slots.inFlight == 0 { releaseBuffers() }
    sendPing()
  }

  /// Gives back what it has for being busy.
  private func releaseBuffers() {
    slots.shrink()
    recentSlot = 0
    cnghttp2_pool_trim(memory)
    stream.releaseBuffers()
  }

  /// Whether nothing was read for half the time that a request has. Not for all of it: what the peer
  /// said just after a request was submitted, as when it died amid answers, does not speak for it.
  private var isSilentForRequests: Bool {
    loop.nowNs &- lastReadNs >= settings.requestTimeoutMs &* 500_000
  }

  /// Asks at once, rather than after the silence that an idle connection may keep.
  private func checkResponsive() {
    guard !isUnresponsive else { return }
    isUnresponsive = true
    let isAsked = pingSentNs.map { lastReadNs <= $0 } ?? false
    if !isAsked { sendPing() }
  }

  private func sendPing() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    pingSentNs = loop.nowNs
    stream.requestFlush()
    keepAliveTimer.schedule(afterMs: settings.pingTimeoutMs)
  }
}

extension ClientConnection: ByteStreamDelegate {
  package func streamDidOpen(_ stream: ByteStream) {
    session = makeClientSession(for: self)
    lastReadNs = loop.nowNs
    keepAliveTimer.schedule(afterMs: settings.pingAfterMs)
    stream.requestFlush()
  }

  package func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    // A callback may end the connection; the session must outlive the call into it.
    withExtendedLifetime(self) { receive(bytes) }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    lastReadNs = loop.nowNs
    isUnresponsive = false
    let taken = nghttp2_session_mem_recv(
      session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard taken >= 0 else {
      return close(.protocolViolation(String(cString: nghttp2_strerror(CInt(taken)))))
    }
    stream.requestFlush()
  }

  package func streamFillsOutput(_ stream: ByteStream) {
    withExtendedLifetime(self) { fillOutput() }
  }

  private func fillOutput() {
    // Held here: a property is retained anew each time that it is read.
    let stream = self.stream!
    let session = self.session
    // A few requests at a time, each framed while nghttp2's objects for it are still in the cache.
    var hasMore = true
    while hasMore, stream.isOpen, stream.outputWaiting < ReactorLimits.outputLowWaterBytes {
      // While the peer takes no more bytes (RFC 9113, 5.2), what is submitted would only wait inside. With nothing in
      // flight it does all the same, so that a peer which never opens its window again is found out by a time limit.
      let isBlocked = slots.inFlight > 0 && nghttp2_session_get_remote_window_size(session) <= 0
      let room = isBlocked ? 0 : min(self.room, HTTP2Limits.submissionsPerRound)
      let inFlight = slots.inFlight
      if room > 0 {
        owner.connection(self, hasRoomFor: room)
      } else if !isDraining, isAuthorised || isUnresponsive {
        owner.connectionIsFull(self)
      }
      hasMore = room > 0 && slots.inFlight == inFlight + room
      frameOutput(stream, session)
    }
    guard stream.isOpen, stream.outputWaiting == 0 else { return }
    let isOver =
      nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    if isDraining && slots.inFlight == 0 {
      close()
    } else if isOver {
      // nghttp2 gave up on the peer and has told it why.
      close(.protocolViolation(peerError ?? "the peer broke the protocol"))
    }
  }

  private func frameOutput(_ stream: ByteStream, _ session: OpaquePointer?) {
    while stream.isOpen, stream.outputWaiting < ReactorLimits.outputLowWaterBytes {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &frame)
      guard count > 0 else {
        if count < 0 { close(.protocolViolation(String(cString: nghttp2_strerror(CInt(count))))) }
        return
      }
      _ = stream.write(UnsafeRawBufferPointer(start: frame, count: count))
    }
  }

  package func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    deadlineTimer.cancel()
    keepAliveTimer.cancel()
    isDraining = true
    // It was opened, and did not even say SETTINGS.
    if streamsAllowed == nil, end != .closed { stream.avoidAddress() }
    unanswered = slots.inFlight
    isCutOff = (end?.isFarewell ?? true) && answered >= HTTP2Limits.usefulAnswersMin
    failAll()
    owner.connection(self, endedBecause: end ?? failure.map { .failed($0) } ?? .closedByPeer)
  }
}
