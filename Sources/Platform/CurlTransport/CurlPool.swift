import CCurl
package import HTTP2
package import Reactor

/// The connections of one lane to a network of which each request carries many pushes, by libcurl, straight or through a
/// proxy; loop-bound. So a peer may speak HTTP/1.1, and what a request costs is shared by its pushes.
///
/// libcurl chooses among the connections, and would send a request again by itself when one breaks, which
/// for a push may be twice: the pool is asked before each sending (`CURLOPT_PREREQFUNCTION`) and allows
/// one. That moment also divides `notSent` from `unknown`: of what was allowed to begin, nobody knows,
/// unless there was an answer. Connections are opened by probes, which are never allowed to begin, so
/// that no push waits for a handshake.
///
/// A peer that speaks HTTP/1.1 is sent to one request at a time on each connection. libcurl ends a connection of HTTP/1.1
/// whose probe is not sent, so requests open theirs then.
package final class CurlPool: Transport {
  let loop: EventLoop
  package let settings: ClientSettings
  unowned let delegate: any TransportDelegate
  private let connections: CurlConnections
  let sockets: CurlSockets
  private(set) var multi: CurlMulti!
  private var attempts: CurlAttempts!
  private var transfers: CurlTransfers
  package private(set) var inFlight = 0
  /// Whether anything waits to be sent, as far as the delegate has said.
  private var isWanted = false
  private var isFlushQueued = false
  private var isClosed = false

  /// - Parameter settings: must have TLS. Whoever submits judges what is an accept.
  package init(
    loop: EventLoop, settings: ClientSettings, delegate: any TransportDelegate
  ) {
    let target = CurlTarget(settings)
    self.loop = loop
    self.settings = settings
    self.delegate = delegate
    connections = CurlConnections(loop: loop, target: target)
    sockets = CurlSockets(loop: loop, connections: connections)
    transfers = CurlTransfers(to: target, sockets: sockets, connections: connections)
    attempts = CurlAttempts(loop: loop, settings: settings) { [unowned self] in openMissing() }
    multi = CurlMulti(loop: loop, settings: settings, sockets: sockets) {
      [unowned self] in drive($0, $1)
    }
    sockets.onLost = { [unowned self] in openMissing() }
  }

  deinit { tearDown() }

  package var readyConnections: Int { connections.ready }

  package var streamsMax: Int { settings.connectionsMax * settings.streamsMax }

  package func wake(waiting: Int) {
    isWanted = true
    openMissing()
    requestFlush()
  }

  package func rest() { isWanted = false }

  // libcurl closes an idle connection only when it opens another: none of them frees a descriptor.
  package var idleSinceNs: UInt64? { nil }
  package func closeIdle() {}
  package func shed() -> Bool { false }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    let unfinished = transfers.running.filter { !$0.isProbe }
    tearDown()
    for transfer in unfinished {
      tell(transfer, transfer.connection == nil ? .notSent : .unknown)
    }
  }

  /// Takes everything away from libcurl. Safe to call twice.
  private func tearDown() {
    attempts.stop()
    multi.close(transfers.running)
    connections.removeAll()
  }

  // MARK: Connections and room

  private var connectionsMax: Int { loop.isFrugal ? 1 : settings.connectionsMax }

  private func openMissing() {
    guard !connections.isOneByOne else { return }
    while isWanted, !isClosed, !attempts.isPausing,
      readyConnections + attempts.underway < connectionsMax
    {
      guard let probe = transfers.take(isProbe: true) else { return }
      guard probe.prepareProbe(), multi.add(probe) else { return transfers.giveBack(probe) }
      attempts.begin()
    }
  }

  /// How many requests may be submitted now.
  private var room: Int {
    guard !isClosed, isWanted, readyConnections > 0 else { return 0 }
    if connections.isOneByOne { return max(0, connectionsMax - inFlight) }
    let waiting = inFlight - connections.begun
    let free = max(0, streamsMax - inFlight)
    guard connections.hasUnproven else {
      return max(0, min(CurlLimits.waitingMax - waiting, free))
    }
    // One request is alone on a connection until its answer shows that libcurl knows the server's limit. libcurl chooses
    // the connection: none is submitted while it might choose one that waits for that answer.
    return connections.isClear && waiting == 0 ? min(1, free) : 0
  }

  private func requestFlush() {
    guard !isFlushQueued, !isClosed, room > 0 else { return }
    isFlushQueued = true
    loop.flushAtEndOfTurn(self)
  }

  private func pull() {
    var rounds = 0
    while !isClosed, rounds < CurlLimits.roundsPerTurn {
      let room = self.room
      guard room > 0 else { return }
      let before = inFlight
      delegate.transport(self, hasRoomFor: room, in: self)
      guard inFlight > before else { return }
      rounds += 1
      drive()
    }
    requestFlush()
  }

  /// Lets libcurl act on a socket's readiness, or on the time.
  private func drive(_ descriptor: CInt = CURL_SOCKET_TIMEOUT, _ events: CInt = 0) {
    guard !isClosed else { return }
    withExtendedLifetime(self) {
      let before = sockets.movements
      multi.act(on: descriptor, events)
      while let ended = multi.nextEnded() { finish(ended.transfer, ended.code) }
      multi.note(hasMoved: sockets.movements != before)
      tellConnections()
      // What ended is replaced, and what was cut: when that had no request left, libcurl looks at it no
      // more, and nothing else tells of it.
      openMissing()
      requestFlush()
    }
  }

  // MARK: Ends

  private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
    guard !transfer.isProbe else { return finishProbe(transfer, code) }
    let ending = disposition(of: transfer, code)
    if let connection = transfer.connection { note(code, ending, transfer, on: connection) }
    if transfer.connection == nil, connections.isOneByOne { lookAgain(transfer.text(code)) }
    tell(transfer, ending, isPartial: code != CURLE_OK && !transfer.answer.isCut)
  }

  private func finishProbe(_ probe: CurlTransfer, _ code: CURLcode) {
    attempts.end()
    let hasConnected = probe.hasConnected
    let reason = probe.text(code)
    transfers.giveBack(probe)
    if !hasConnected { noteFailedAttempt(reason) }
    sockets.forgetShortage()
  }

  /// The peer of single requests cannot be connected to any more: probes find out when it can be, with pauses between them, and
  /// what it speaks then.
  private func lookAgain(_ reason: String) {
    connections.isOneByOne = false
    noteFailedAttempt(reason)
    sockets.forgetShortage()
  }

  private func noteFailedAttempt(_ reason: String) {
    let shortage = sockets.shortage
    attempts.pause(afterFailure: shortage == nil)
    delegate.transport(
      self, connectionEnded: shortage.map { .failed(.system($0)) } ?? .reported(reason))
  }

  private func disposition(
    of transfer: CurlTransfer, _ code: CURLcode
  ) -> RequestAnswer.Disposition {
    guard transfer.connection != nil else { return .notSent }
    // A 200 is a yes whatever follows it.
    let isAnswered = code == CURLE_OK || transfer.answer.status == 200 || transfer.answer.isCut
    guard !isAnswered else { return .answered }
    return transfer.isCalledMalformed(code) ? .malformed : .unknown
  }

  private func note(
    _ code: CURLcode, _ ending: RequestAnswer.Disposition, _ transfer: CurlTransfer,
    on connection: CurlConnection
  ) {
    guard ending != .answered else {
      connection.answered += 1
      connection.heardNs = loop.nowNs
      attempts.noteAnswer()
      connection.isProven = true
      return
    }
    connection.trouble = transfer.text(code)
    if ending == .malformed { connection.heardNs = loop.nowNs }
    // libcurl would go on with a peer that has gone without a word. Not the whole time limit: what it
    // said just after the request was begun does not speak for it.
    let silentNs = loop.nowNs &- connection.heardNs
    if code == CURLE_OPERATION_TIMEDOUT, silentNs >= settings.requestTimeoutMs &* 500_000 {
      connection.cut(because: "the peer went silent")
    }
  }

  /// Ends one request; its handle is free again before the delegate hears of it.
  private func tell(
    _ transfer: CurlTransfer, _ disposition: RequestAnswer.Disposition, isPartial: Bool = true
  ) {
    inFlight -= 1
    if let connection = transfer.connection { connections.end(on: connection) }
    let tag = transfer.tag
    let elapsedNs = loop.nowNs &- transfer.startedNs
    let answer = transfer.takeAnswer()
    transfers.giveBack(transfer)
    answer.type.withUnsafeBytes { type in
      answer.body.withUnsafeBytes { body in
        _ = delegate.transport(
          self, finished: tag,
          with: RequestAnswer(
            disposition,
            RequestAnswer.Content(
              status: disposition == .answered ? answer.status : 0,
              retryAfter: answer.retryAfter, body: body, isBodyCut: answer.isCut,
              contentType: type, isPartial: isPartial),
            elapsedNs: elapsedNs))
      }
    }
  }

  private func tellConnections() {
    for connection in connections.takeEnded() where !isClosed {
      let livedMs = (loop.nowNs &- connection.openedNs) / 1_000_000
      let wasOfUse = connection.answered > 0 && livedMs >= settings.reconnectMsMin
      if !wasOfUse, !attempts.isPausing {
        attempts.pause(afterFailure: connection.answered == 0)
      }
      delegate.transport(
        self, connectionEnded: connection.trouble.map { .reported($0) } ?? .closedByPeer)
    }
    guard !isClosed, connections.takeOpened() else { return }
    delegate.transport(self, connectionOpened: readyConnections)
  }
}

extension CurlPool: RequestTaker {
  package func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool {
    guard !isClosed, let transfer = transfers.take() else { return false }
    guard transfer.prepare(head, path: path, body: body, tag: tag, nowNs: loop.nowNs),
      multi.add(transfer)
    else {
      transfers.giveBack(transfer)
      return false
    }
    inFlight += 1
    sockets.noteMovement()
    return true
  }
}

extension CurlPool: Flushable {
  package func flushNow() {
    isFlushQueued = false
    withExtendedLifetime(self) { pull() }
  }
}
