import CCurl
package import HTTP2
internal import HTTPClient
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
  /// The name that the peer's certificate must carry.
  let serverName: String
  unowned let delegate: any TransportDelegate
  private let multi: UnsafeMutableRawPointer
  private let origin: [UInt8]
  private var transfers: [CurlTransfer] = []
  private var idle: [CurlTransfer] = []
  private var idleProbes: [CurlTransfer] = []
  /// Connections that are being opened.
  private var probing = 0
  var watches: [CInt: DescriptorWatch] = [:]
  /// The events that libcurl waits for, by descriptor.
  var wishes: [CInt: DescriptorWatch.Wish] = [:]
  /// Anything that moved: requests begun and ended, bytes of bodies and headers, sockets opened and closed.
  var movements = 0
  /// Calls of libcurl, and those in a row after which nothing had moved.
  private(set) var calls = 0
  var fruitless = 0
  /// Whether it is kept from hearing that a socket can be written to.
  var isResting = false
  var restTimer: LoopTimer!
  var timer: LoopTimer!
  var reconnectTimer: LoopTimer!
  var pause: ReconnectPause

  /// Sockets that libcurl has open, those of connections that are being opened included.
  var sockets: Set<CInt> = []
  var connections: [CurlConnection] = []
  /// Why libcurl got no socket, when no file descriptor was left.
  var shortage: SystemError?
  /// Whether the peer spoke HTTP/1.1 when it was connected to last.
  var isOneByOne = false
  /// Connections that opened or ended and were not told of yet.
  var openedUntold = 0
  private var endedUntold: [CurlConnection] = []
  package private(set) var inFlight = 0
  /// Requests in flight that libcurl was allowed to send.
  var begun = 0
  /// Whether anything waits to be sent, as far as the delegate has said.
  private var isWanted = false
  private var isFlushQueued = false
  private(set) var isClosed = false
  private var isTornDown = false

  /// - Parameter settings: must have TLS. Whoever submits judges what is an accept.
  package init(
    loop: EventLoop, settings: ClientSettings, delegate: any TransportDelegate
  ) {
    precondition(settings.connectionsMax > 0 && settings.streamsMax > 0)
    precondition(settings.tls != nil, "pushes go over TLS")
    CurlLibrary.initialise()
    guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
    guard case .tcp(let host, let port) = settings.endpoint else {
      preconditionFailure("libcurl carries pushes over TCP")
    }
    self.loop = loop
    self.settings = settings
    self.delegate = delegate
    self.multi = multi
    pause = ReconnectPause(settings)
    serverName = settings.serverName ?? host
    origin = Array("https://\(Endpoint.tcp(host: host, port: port))".utf8)
    timer = LoopTimer(loop: loop) { [unowned self] in drive(CURL_SOCKET_TIMEOUT, 0) }
    reconnectTimer = LoopTimer(loop: loop) { [unowned self] in openMissing() }
    restTimer = LoopTimer(loop: loop) { [unowned self] in endRest() }
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = ccurl_multi_setopt_socket(multi, changedWish, context)
    _ = ccurl_multi_setopt_timer(multi, changedTimeout, context)
    for (option, value) in [
      (CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
      (CURLMOPT_MAX_CONCURRENT_STREAMS, settings.streamsMax),
      (CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsMax),
      (CURLMOPT_MAXCONNECTS, settings.connectionsMax),
    ] { _ = ccurl_multi_setopt_long(multi, option, value) }
  }

  deinit { tearDown() }

  // One by one, a connection may be gone between requests, and the next request opens another.
  package var readyConnections: Int { max(isOneByOne ? 1 : 0, connections.count { !$0.isCut }) }

  package var streamsMax: Int { settings.connectionsMax * settings.streamsMax }

  package func wake(waiting: Int) {
    isWanted = true
    openMissing()
    requestFlush()
  }

  package func rest() { isWanted = false }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    let unfinished = transfers.filter { $0.isRunning && !$0.isProbe }
    tearDown()
    for transfer in unfinished {
      tell(transfer, transfer.connection == nil ? .notSent : .unknown)
    }
  }

  /// Takes everything away from libcurl, which closes its connections.
  private func tearDown() {
    guard !isTornDown else { return }
    isTornDown = true
    timer.cancel()
    reconnectTimer.cancel()
    restTimer.cancel()
    for transfer in transfers where transfer.isRunning {
      curl_multi_remove_handle(multi, transfer.handle)
    }
    curl_multi_cleanup(multi)
    // What libcurl armed while it closed.
    timer.cancel()
    for watch in watches.values { watch.stop() }
    watches.removeAll()
    connections.removeAll()
  }

  // MARK: Connections and room

  func openMissing() {
    guard !isOneByOne else { return }
    while isWanted, !isClosed, !reconnectTimer.isArmed, readyConnections + probing < connectionsMax
    {
      guard let probe = idleProbes.popLast() ?? makeTransfer(isProbe: true),
        probe.prepareProbe(), curl_multi_add_handle(multi, probe.handle) == CURLM_OK
      else { return }
      probing += 1
    }
  }

  /// How many requests may be submitted now.
  private var room: Int {
    guard !isClosed, isWanted, readyConnections > 0 else { return 0 }
    if isOneByOne { return roomOneByOne }
    let waiting = inFlight - begun
    let free = max(0, streamsMax - inFlight)
    guard connections.contains(where: { !$0.isProven && !$0.isCut }) else {
      return max(0, min(CurlLimits.waitingMax - waiting, free))
    }
    // One request is alone on a connection until its answer shows that libcurl knows the server's limit. libcurl chooses
    // the connection: none is submitted while it might choose one that waits for that answer.
    let isClear = connections.allSatisfy { $0.isProven || $0.isCut || $0.inFlight == 0 }
    return isClear && waiting == 0 ? min(1, free) : 0
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
      drive(CURL_SOCKET_TIMEOUT, 0)
    }
    requestFlush()
  }

  // MARK: libcurl

  /// Lets libcurl act on a descriptor's readiness, or on the time.
  func drive(_ descriptor: curl_socket_t, _ events: CInt) {
    guard !isClosed else { return }
    withExtendedLifetime(self) {
      var running: CInt = 0
      let before = movements
      calls += 1
      curl_multi_socket_action(multi, descriptor, events, &running)
      finishDone()
      note(hasMoved: movements != before)
      tellConnections()
      // What ended is replaced, and what was cut: when that had no request left, libcurl looks at it no
      // more, and nothing else tells of it.
      openMissing()
      requestFlush()
    }
  }

  func closed(socket: CInt) {
    movements += 1
    forget(socket)
    sockets.remove(socket)
    guard let index = connections.firstIndex(where: { $0.socket == socket }) else { return }
    let connection = connections.remove(at: index)
    if !connection.isPassing { endedUntold.append(connection) }
  }

  private func makeTransfer(isProbe: Bool = false) -> CurlTransfer? {
    guard let handle = curl_easy_init() else { return nil }
    let transfer = CurlTransfer(pool: self, handle: handle, origin: origin, isProbe: isProbe)
    guard transfer.configure(settings) else { return nil }
    transfers.append(transfer)
    return transfer
  }

  // MARK: Ends

  private func finishDone() {
    var left: CInt = 0
    while !isClosed, let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
        continue
      }
      movements += 1
      let code = message.pointee.data.result
      let context = ccurl_easy_private(handle)
      curl_multi_remove_handle(multi, handle)
      guard let context else { continue }
      finish(Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue(), code)
    }
  }

  private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
    guard !transfer.isProbe else { return finishProbe(transfer, code) }
    let ending = disposition(of: transfer, code)
    if let connection = transfer.connection { note(code, ending, transfer, on: connection) }
    if transfer.connection == nil, isOneByOne { lookAgain(transfer.text(code)) }
    tell(transfer, ending, isPartial: code != CURLE_OK && !transfer.isAnswerCut)
  }

  private func finishProbe(_ probe: CurlTransfer, _ code: CURLcode) {
    probing -= 1
    let hasConnected = probe.hasConnected
    let reason = probe.text(code)
    probe.rest()
    idleProbes.append(probe)
    // What was short then says nothing of a later failure.
    defer { shortage = nil }
    guard !hasConnected else { return }
    reconnectTimer.schedule(afterMs: pause.next(afterFailure: shortage == nil))
    delegate.transport(
      self, connectionEnded: shortage.map { .failed(.system($0)) } ?? .reported(reason))
  }

  private func disposition(
    of transfer: CurlTransfer, _ code: CURLcode
  ) -> RequestAnswer.Disposition {
    guard transfer.connection != nil else { return .notSent }
    // A 200 is a yes whatever follows it.
    let isAnswered = code == CURLE_OK || transfer.status == 200 || transfer.isAnswerCut
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
      pause.noteAnswer()
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
    if let connection = transfer.connection {
      begun -= 1
      connection.inFlight -= 1
    }
    let wasAnswered = disposition == .answered
    let (tag, status, retryAfter) = (transfer.tag, transfer.status, transfer.retryAfter)
    let elapsedNs = loop.nowNs &- transfer.startedNs
    let isCut = transfer.isAnswerCut
    let body = transfer.takeAnswerBody()
    let type = transfer.takeType()
    transfer.rest()
    idle.append(transfer)
    type.withUnsafeBytes { type in
      body.withUnsafeBytes { body in
        _ = delegate.transport(
          self, finished: tag,
          with: RequestAnswer(
            disposition,
            RequestAnswer.Content(
              status: wasAnswered ? status : 0, retryAfter: retryAfter, body: body,
              isBodyCut: isCut, contentType: type, isPartial: isPartial),
            elapsedNs: elapsedNs))
      }
    }
  }

  private func tellConnections() {
    let ended = endedUntold
    endedUntold.removeAll(keepingCapacity: true)
    for connection in ended where !isClosed {
      let livedMs = (loop.nowNs &- connection.openedNs) / 1_000_000
      let wasOfUse = connection.answered > 0 && livedMs >= settings.reconnectMsMin
      if !wasOfUse, !reconnectTimer.isArmed {
        reconnectTimer.schedule(afterMs: pause.next(afterFailure: connection.answered == 0))
      }
      delegate.transport(
        self, connectionEnded: connection.trouble.map { .reported($0) } ?? .closedByPeer)
    }
    guard openedUntold > 0, !isClosed else { return }
    openedUntold = 0
    delegate.transport(self, connectionOpened: readyConnections)
  }
}

extension CurlPool: RequestTaker {
  package func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool {
    guard !isClosed, let transfer = idle.popLast() ?? makeTransfer() else { return false }
    guard transfer.prepare(head, path: path, body: body, tag: tag, nowNs: loop.nowNs),
      curl_multi_add_handle(multi, transfer.handle) == CURLM_OK
    else {
      transfer.rest()
      idle.append(transfer)
      return false
    }
    inFlight += 1
    movements += 1
    return true
  }
}

extension CurlPool: Flushable {
  package func flushNow() {
    isFlushQueued = false
    withExtendedLifetime(self) { pull() }
  }
}

private func changedWish(
  _ handle: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: CInt,
  _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> CInt {
  Unmanaged<CurlPool>.fromOpaque(context!).takeUnretainedValue().watch(descriptor, for: what)
  return 0
}

private func changedTimeout(
  _ multi: UnsafeMutableRawPointer?, _ timeoutMs: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
  Unmanaged<CurlPool>.fromOpaque(context!).takeUnretainedValue().setTimeout(ms: timeoutMs)
  return 0
}
