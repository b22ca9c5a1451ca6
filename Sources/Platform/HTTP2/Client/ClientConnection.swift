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
  private(set) var stream: ByteStream!
  private var deadlineTimer: LoopTimer!
  private var keepAliveTimer: LoopTimer!

  var allowance: ConnectionAllowance
  private(set) var record: ConnectionRecord
  private var silence = PeerSilence()
  var ending = ConnectionEnding()
  /// Whether the pool has seen to this connection's successor already.
  var isReplaced = false
  var troubleRow = TroubleRow()

  init(loop: EventLoop, settings: ClientSettings, owner: any ClientConnectionOwner) {
    self.loop = loop
    self.settings = settings
    self.owner = owner
    slots = SlotTable(capacity: settings.streamsMax)
    memory = cnghttp2_pool_create()
    allowance = ConnectionAllowance(settings)
    record = ConnectionRecord(createdNs: loop.nowNs)
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

  /// The number of streams that the server allows at once; nil until its SETTINGS arrived.
  var streamsAllowed: Int? { allowance.streamsAllowed }
  /// Whether it takes no more requests.
  var isDraining: Bool { ending.isDraining }

  /// Whether it is known to take requests by the hundred.
  var isCarrying: Bool {
    streamsAllowed != nil && allowance.isAuthorised && !isDraining && !silence.isUnresponsive
  }

  /// Whether its end is no sign that the server wants us to wait.
  var isProven: Bool {
    record.isProven(lastsMs: settings.reconnectMsMin, nowNs: loop.nowNs)
  }

  /// Requests in flight.
  package var inFlight: Int { slots.inFlight }

  /// Whether it has taken all that it takes.
  var isSpent: Bool { record.submitted >= allowance.requestsMax }

  /// How many requests may be submitted now.
  package var room: Int {
    guard !isDraining, !silence.isUnresponsive else { return 0 }
    return max(0, allowance.streams - slots.inFlight)
  }

  /// To be called only while `room` is above 0; false when the connection is draining.
  package func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool {
    // It may have been closed since its owner was asked.
    guard !isDraining else { return false }
    let nowNs = loop.nowNs
    record.noteUse(nowNs: nowNs)
    let index = slots.take(tag: tag, body: body, startedNs: nowNs)
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
    record.noteSubmitted()
    if isSpent { drain() }
    if !deadlineTimer.isArmed { deadlineTimer.schedule(afterMs: settings.requestTimeoutMs) }
    return true
  }

  /// Has the owner asked for requests at the end of this turn.
  func wake() {
    if room > 0 {
      stream.requestFlush()
    } else if streamsAllowed != nil, !isDraining, allowance.isAuthorised || silence.isUnresponsive {
      owner.connectionIsFull(self)
    }
  }

  /// Takes no more requests; closes when those in flight have ended.
  func drain() {
    guard !isDraining else { return }
    ending.isDraining = true
    owner.connectionIsDraining(self)
    stream.requestFlush()
  }

  /// The peer lets go of the connection (GOAWAY).
  func noteGoAway(errorCode: UInt32, lastStreamID: Int32, debugData: String) {
    ending.reason = .goAway(errorCode: errorCode, debugData: debugData)
    if errorCode == NGHTTP2_PROTOCOL_ERROR.rawValue {
      ending.noteAccusation(inFlight: slots.inFlight)
    }
    if errorCode == NGHTTP2_NO_ERROR.rawValue { record.noteFarewell(lastStreamID: lastStreamID) }
    drain()
  }

  /// Closes now; requests in flight end as `unknown` or `notSent`.
  func close(_ reason: ConnectionEnd = .closed) {
    if ending.reason == nil { ending.reason = reason }
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
    let outcome = !wasAnswered && ending.accused == 1 ? .malformed : disposition
    if wasAnswered {
      record.noteAnswer(startedNs: slot.startedNs, nowNs: loop.nowNs)
      if slot.status != 403 { allowance.isAuthorised = true }
    }
    if slot.hasOddType {
      slots.takeType(index).withUnsafeBytes { tell(slot, index, outcome, contentType: $0) }
    } else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      tell(slot, index, outcome, contentType: slot.hasType ? ContentType.json : none)
    }
    stream.requestFlush()
  }

  private func tell(
    _ slot: RequestSlot, _ index: Int32, _ outcome: RequestAnswer.Disposition,
    contentType: UnsafeRawBufferPointer
  ) {
    let wasAnswered = outcome == .answered
    // Taken out first: whoever hears of the end may look at this connection.
    slots.takeBody(index).withUnsafeBytes { body in
      owner.connection(
        self, finished: slot.tag,
        with: RequestAnswer(
          outcome,
          RequestAnswer.Content(
            status: wasAnswered ? Int(slot.status) : 0, retryAfter: slot.retryAfter, body: body,
            isBodyCut: slot.isBodyCut, contentType: contentType,
            isAccepted: wasAnswered && slot.status == 200
              && settings.acceptedForm.isMet(
                byBodyOf: body.count, isRecognised: slot.isRecognised),
            isPartial: !slot.isEnded),
          failure: RequestAnswer.Failure(
            isRefused: outcome == .notSent && slot.isReset,
            isAccused: ending.accused != nil && !wasAnswered,
            isCutOff: ending.isCutOff && outcome == .unknown),
          elapsedNs: loop.nowNs &- slot.startedNs))
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
      let outcome = dispositionWhenCut(slot)
      nghttp2_session_set_stream_user_data(session, slot.streamID, nil)
      nghttp2_submit_rst_stream(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.streamID, NGHTTP2_CANCEL.rawValue)
      finish(slots.oldest, outcome)
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
    if let waitedMs = silence.pingedMs(nowNs: loop.nowNs) {
      guard waitedMs < settings.pingTimeoutMs else { return close(.silent) }
      return keepAliveTimer.schedule(afterMs: settings.pingTimeoutMs - waitedMs)
    }
    let silentMs = silence.lastedNs(nowNs: loop.nowNs) / 1_000_000
    guard silentMs >= settings.pingAfterMs else {
      return keepAliveTimer.schedule(afterMs: settings.pingAfterMs - silentMs)
    }
    if slots.inFlight == 0 { releaseBuffers() }
    sendPing()
  }

  /// Gives back what it has for being busy.
  private func releaseBuffers() {
    slots.shrink()
    cnghttp2_pool_trim(memory)
    stream.releaseBuffers()
  }

  /// Whether nothing was read for half the time that a request has. Not for all of it: what the peer
  /// said just after a request was submitted, as when it died amid answers, does not speak for it.
  private var isSilentForRequests: Bool {
    silence.lastedNs(nowNs: loop.nowNs) >= settings.requestTimeoutMs &* 500_000
  }

  /// Asks at once, rather than after the silence that an idle connection may keep.
  private func checkResponsive() {
    guard !silence.isUnresponsive else { return }
    silence.noteUnresponsive()
    if silence.pingedMs(nowNs: loop.nowNs) == nil { sendPing() }
  }

  private func sendPing() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    silence.notePing(nowNs: loop.nowNs)
    stream.requestFlush()
    keepAliveTimer.schedule(afterMs: settings.pingTimeoutMs)
  }
}

extension ClientConnection: ByteStreamDelegate {
  package func streamDidOpen(_ stream: ByteStream) {
    session = makeClientSession(for: self)
    silence.begin(nowNs: loop.nowNs)
    keepAliveTimer.schedule(afterMs: settings.pingAfterMs)
    stream.requestFlush()
  }

  package func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    // A callback may end the connection; the session must outlive the call into it.
    withExtendedLifetime(self) { receive(bytes) }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    silence.end(nowNs: loop.nowNs)
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
      } else if !isDraining, allowance.isAuthorised || silence.isUnresponsive {
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
      close(.protocolViolation(ending.peerError ?? "the peer broke the protocol"))
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
    // It was opened, and did not even say SETTINGS.
    if streamsAllowed == nil, ending.reason != .closed { stream.avoidAddress() }
    record.noteEnd(inFlight: slots.inFlight)
    ending.end(answered: record.answered)
    failAll()
    owner.connection(
      self, endedBecause: ending.reason ?? failure.map { .failed($0) } ?? .closedByPeer)
  }
}
