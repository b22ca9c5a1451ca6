package import Reactor

/// The connections of one lane to one endpoint with one credential; loop-bound.
///
/// A connection is opened when there is something to send, kept, and replaced when the server lets go
/// of it. There are several where more waits than one carries. One that lasted no longer than the shortest pause is followed by a jittered pause, which
/// grows while connections end without having answered anything: providers take rapid reconnecting for
/// an attack. Close the pool before letting go of it.
package final class ClientPool: Transport {
  let loop: EventLoop
  package let settings: ClientSettings
  unowned let delegate: any TransportDelegate
  private(set) var connections: [ClientConnection] = []
  /// Whether anything waits to be sent, as far as the delegate has said.
  private(set) var isWanted = false
  /// How many connections it keeps while there is something to send.
  var wantedConnections = 1
  private var pause: ReconnectPause
  private var learned = LearnedRequests()
  private var losses = ConnectionLosses()
  /// Over how many times as many connections the requests are spread.
  private var spread = 1
  private(set) var reconnectTimer: LoopTimer!
  private(set) var isClosed = false
  /// Good answers, and rows of trouble that began, on all connections.
  var goods = 0
  var rows = 0
  /// How many of the next connections take the place of a bad one.
  var probations = 0
  /// Rings when a connection with trouble may be tried again.
  private(set) var trialTimer: LoopTimer!

  package init(loop: EventLoop, settings: ClientSettings, delegate: any TransportDelegate) {
    precondition(settings.connectionsMax > 0 && settings.streamsMax > 0)
    self.loop = loop
    self.settings = settings
    self.delegate = delegate
    pause = ReconnectPause(settings)
    reconnectTimer = LoopTimer(loop: loop) { [unowned self] in openMissing() }
    trialTimer = LoopTimer(loop: loop) { [unowned self] in wakeAll() }
  }

  deinit {
    reconnectTimer.cancel()
    trialTimer.cancel()
    // The loop would keep those that were not closed, and they would look for their pool.
    for connection in connections { connection.abandon() }
  }

  package var readyConnections: Int {
    connections.count { $0.streamsAllowed != nil && !$0.isDraining }
  }

  package var inFlight: Int { connections.reduce(0) { $0 + $1.inFlight } }

  package var streamsMax: Int { settings.connectionsMax * settings.streamsMax }

  package var streamsAllowed: Int {
    connections.reduce(0) { sum, connection in
      guard let allowed = connection.streamsAllowed, !connection.isDraining else { return sum }
      return sum + min(allowed, connection.allowance.streamsMax)
    }
  }

  package func wake(waiting: Int) {
    isWanted = true
    // Where nothing is known to carry them yet, a campaign does not wait for one connection to be full.
    if waiting > HTTP2Limits.waitingForOneMax, !connections.contains(where: \.isCarrying) {
      wantedConnections = connectionsMax
    }
    openMissing()
    for connection in connections { connection.wake() }
  }

  package func rest() { isWanted = false }

  private var leastUsed: ClientConnection? {
    connections.filter { $0.streamsAllowed != nil && !$0.isDraining && $0.inFlight == 0 }
      .min { $0.record.usedNs < $1.record.usedNs }
  }

  package var idleSinceNs: UInt64? { isWanted ? nil : leastUsed?.record.usedNs }

  package func closeIdle() {
    guard !isWanted, let leastUsed else { return }
    // That it was of no use lately is no failure: nothing is paused for it.
    leastUsed.isReplaced = true
    leastUsed.close()
  }

  /// Forgets what was wanted of late, which is not what will be.
  private func forgetWant() {
    wantedConnections = max(1, connections.count { !$0.isDraining })
  }

  package func shed() -> Bool {
    let serving = connections.filter { !$0.isDraining }
    guard serving.count > 1, let least = serving.min(by: { $0.record.usedNs < $1.record.usedNs })
    else {
      return false
    }
    least.isReplaced = true
    least.drain()
    return true
  }

  package func close() {
    isClosed = true
    reconnectTimer.cancel()
    trialTimer.cancel()
    for connection in connections { connection.close() }
  }

  /// More than usual while connections break, with fewer streams each.
  var connectionsMax: Int { settings.connectionsMax * spread }
  private var streamsPerConnection: Int { max(1, settings.streamsMax / spread) }

  /// Gives each connection its part of the streams when there are to be more connections, or fewer again.
  private func spreadOut() {
    let spread = losses.spread(nowNs: loop.nowNs)
    guard spread != self.spread else { return }
    self.spread = spread
    wantedConnections = min(wantedConnections, connectionsMax)
    for connection in connections { connection.allowance.streamsMax = streamsPerConnection }
    var surplus = connections.count { !$0.isDraining } - connectionsMax
    while surplus > 0, shed() { surplus -= 1 }
  }

  private func openMissing() {
    spreadOut()
    guard isWanted, !isClosed, !reconnectTimer.isArmed else { return }
    let connectionsMax = loop.isFrugal ? 1 : wantedConnections
    // Draining connections do not count: their places are free, up to a bound.
    while connections.count(where: { !$0.isDraining }) < connectionsMax,
      connections.count < connectionsMax * HTTP2Limits.drainingFactorMax
    { openOne() }
  }

  func openOne() {
    let connection = ClientConnection(loop: loop, settings: settings, owner: self)
    connection.allowance.requestsMax = learned.requestsMax(nowNs: loop.nowNs)
    connection.allowance.streamsMax = streamsPerConnection
    if probations > 0 {
      probations -= 1
      connection.troubleRow = .probation(nowNs: loop.nowNs, goods: goods, rows: rows)
    }
    connections.append(connection)
    connection.open()
  }

  /// Replaces a connection whose server says something, but nothing good: after the shortest pause, for it is no sign that the
  /// servers want us to wait.
  func renew(_ connection: ClientConnection) {
    pause.noteAnswer()
    connection.drain()
  }

  /// Opens a lost connection's successor, at once only when that one was of use.
  private func replace(_ connection: ClientConnection) {
    guard !isClosed else { return }
    let wasOfUse = connection.isProven || connection.isSpent
    if !connection.isReplaced && !wasOfUse && !reconnectTimer.isArmed {
      reconnectTimer.schedule(afterMs: pause.next(afterFailure: connection.record.answered == 0))
    }
    connection.isReplaced = true
    openMissing()
  }
}

extension ClientPool: ClientConnectionOwner {
  func connectionIsFull(_ connection: ClientConnection) {
    guard isWanted, wantedConnections < connectionsMax else { return }
    // One at a time: the others may be on their way already.
    guard connections.count(where: { !$0.isDraining }) >= wantedConnections,
      connections.allSatisfy({ $0.streamsAllowed != nil })
    else { return }
    wantedConnections += 1
    openMissing()
  }

  func connectionIsReady(_ connection: ClientConnection) {
    delegate.transport(self, connectionOpened: readyConnections)
  }

  func connection(_ connection: ClientConnection, hasRoomFor count: Int) {
    let count = connections.count > 1 ? offer(count, to: connection) : count
    if count > 0 { delegate.transport(self, hasRoomFor: count, in: connection) }
  }

  func connection(
    _ connection: ClientConnection, finished tag: UInt64, with answer: RequestAnswer
  ) {
    if answer.disposition == .answered { pause.noteAnswer() }
    let sign = delegate.transport(self, finished: tag, with: answer)
    switch sign {
    case .good:
      goods &+= 1
      if connection.troubleRow.weight > 0 { connection.troubleRow = TroubleRow() }
    case .none: break
    case .trouble, .graveTrouble: noteTrouble(sign, answer, on: connection)
    case .useless: renew(connection)
    }
  }

  func connectionIsDraining(_ connection: ClientConnection) { replace(connection) }

  func connection(_ connection: ClientConnection, endedBecause end: ConnectionEnd) {
    connections.removeAll { $0 === connection }
    guard !isClosed else { return }
    if !isWanted { forgetWant() }
    if end.isOfServersOwnAccord,
      learned.note(
        answered: connection.record.answered, createdNs: connection.record.createdNs,
        usedNs: connection.record.usedNs, nowNs: loop.nowNs)
    {
      for other in connections {
        other.allowance.requestsMax = learned.requestsMax(nowNs: loop.nowNs)
      }
    }
    if end.isBreak { losses.note(unanswered: connection.record.unanswered, nowNs: loop.nowNs) }
    delegate.transport(self, connectionEnded: end)
    if end.isOutOfDescriptors, !connection.isReplaced {
      // Not the server's fault, and whoever hears of it frees a descriptor: there is nothing to spare it.
      reconnectTimer.schedule(afterMs: pause.next(afterFailure: false))
      connection.isReplaced = true
    }
    replace(connection)
  }
}
