internal import HTTP2Server
internal import LocalServices
internal import Reactor

/// One client's connection: counts its requests and applies the script's faults to it.
final class SimulatedConnection {
  unowned let server: SimulatorServer
  let number: Int
  var connection: ServerConnection!
  var memory: ConnectionMemory
  private(set) var isOpen = true
  private var requestCount = 0
  private var lastStreamID: Int32 = 0
  /// Streams above this are not processed, once GOAWAY was said.
  private var goAwayStreamID: Int32?
  private var isLimited: Bool
  private var hasLoweredLimit = false
  private var currentLimit: UInt32
  private var badRequests = 0
  /// Its end is decided: nothing that it still sends counts.
  private var isDropped = false

  init(server: SimulatorServer, number: Int, memory: ConnectionMemory) {
    self.server = server
    self.number = number
    self.memory = memory
    isLimited = server.limitsNewConnections
    currentLimit = isLimited ? 1 : server.openLimit
  }

  /// Takes over an accepted socket.
  func begin(descriptor: CInt) {
    var settings = ServerSettings()
    settings.maxConcurrentStreams = currentLimit
    if !server.limitsResets {
      settings.resetBurst = SimulatorLimits.resetsTolerated
      settings.resetsPerSecond = SimulatorLimits.resetsTolerated
    }
    connection = ServerConnection(
      id: UInt64(number), loop: server.loop, descriptor: descriptor, tls: server.tls,
      settings: settings, delegate: self)
  }

  /// Cuts the TCP connection; answers that were not sent yet are lost. Not to be called while the
  /// connection is reading, which is why requests go through `AnswerTurns.dropAtEnd`.
  func drop() {
    guard isOpen else { return }
    server.record.counters.drops += 1
    // Before the client can see it.
    server.record.publish()
    connection.abort()
  }

  func dropAtEndOfTurn() {
    guard !isDropped else { return }
    isDropped = true
    server.turns.dropAtEnd(self)
  }

  /// Called with each answer that goes out.
  func answered(status: Int) {
    if isLimited && memory.isAuthorised {
      isLimited = false
      changeLimit(server.openLimit)
    }
    guard status == 400, let limit = server.script.dropConnectionAfterBadRequests else { return }
    badRequests += 1
    guard badRequests >= limit, !isDropped else { return }
    isDropped = true
    server.turns.dropAfterFlush(self)
  }

  private func changeLimit(_ limit: UInt32) {
    if limit < currentLimit { hasLoweredLimit = true }
    currentLimit = limit
    connection.changeMaxConcurrentStreams(limit)
  }

  private func handle(_ request: ServerRequest, isEarly: Bool) {
    guard !isDropped else { return }
    if let goAwayStreamID, request.streamID > goAwayStreamID { return }
    requestCount += 1
    let server = self.server
    server.record.counters.countRequest(openStreams: connection.openStreams)
    guard server.hasConnectionFaults else {
      lastStreamID = max(lastStreamID, request.streamID)
      return server.process(request, on: self, isEarly: isEarly)
    }
    guard !failBefore(request) else { return }
    lastStreamID = max(lastStreamID, request.streamID)
    server.process(
      request, on: self, isEarly: isEarly,
      isCut: server.script.closeWithoutAnswerAfter == requestCount)
    failAfter()
  }

  /// The faults that leave the request unprocessed.
  /// - Returns: true when one applied.
  private func failBefore(_ request: ServerRequest) -> Bool {
    let script = server.script
    if let after = script.dropConnectionAfter, requestCount >= after {
      dropAtEndOfTurn()
      return true
    }
    if let after = script.stallAfter, requestCount > after {
      server.record.counters.stalled += 1
      return true
    }
    if isToGoAway, !script.goAwayProcessesLast {
      sayGoAway()
      return true
    }
    if let resets = script.resets, requestCount > resets.after,
      requestCount <= resets.after + resets.times
    {
      server.record.counters.resets += 1
      connection.reset(request, errorCode: resets.code)
      return true
    }
    return false
  }

  /// The faults that follow a request that was processed.
  private func failAfter() {
    let script = server.script
    for step in script.maxConcurrentStreams where step.after == requestCount {
      changeLimit(step.value)
    }
    if isToGoAway { sayGoAway() }
    if script.stopReadingAfter == requestCount { connection.stallReads(true) }
  }

  /// Says GOAWAY with an error and closes, as a server does that was sent something broken.
  func endConnection(errorCode: UInt32) {
    guard !isDropped else { return }
    isDropped = true
    connection.goAway(lastStreamID: lastStreamID, errorCode: errorCode)
    server.turns.dropAfterFlush(self)
  }

  /// Also when a script comes that allows fewer requests than the connection has had.
  private var isToGoAway: Bool {
    guard let after = server.script.goAwayAfter, goAwayStreamID == nil else { return false }
    return requestCount >= after
  }

  private func sayGoAway() {
    goAwayStreamID = lastStreamID
    server.record.counters.goAways += 1
    let reason = server.script.goAwayReason.map { "{\"reason\":\"\($0)\"}" } ?? ""
    connection.goAway(lastStreamID: lastStreamID, debugData: reason)
  }
}

extension SimulatedConnection: ServerConnectionDelegate {
  func connectionOpened(_ connection: ServerConnection) {
    // A fast client's first requests are read before the initialiser of the connection returns.
    self.connection = connection
    memory.hasClientCertificate = connection.clientShowedCertificate
    if isLimited && memory.hasClientCertificate {
      isLimited = false
      changeLimit(server.openLimit)
    }
    if server.script.dropConnectionAfter == 0 { dropAtEndOfTurn() }
    if server.script.stopReadingAfter == 0 { connection.stallReads(true) }
  }

  func connection(_ connection: ServerConnection, receivedHeadersOf request: ServerRequest) {
    if server.script.answersEarly { handle(request, isEarly: true) }
  }

  func connection(_ connection: ServerConnection, received request: ServerRequest) {
    if !server.script.answersEarly { handle(request, isEarly: false) }
  }

  func connection(_ connection: ServerConnection, sawViolation reason: String) {
    // A stream that crossed a lowered limit on its way is nobody's fault (RFC 9113, 5.1.2).
    if reason == "Stream was refused" {
      server.record.counters.refusedStreams += 1
      if hasLoweredLimit { return }
    }
    server.record.counters.violations += 1
  }

  func connectionClosed(_ connection: ServerConnection) {
    guard isOpen else { return }
    isOpen = false
    server.forget(self)
  }
}
