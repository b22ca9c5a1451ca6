package import Reactor

/// What a pool asks of and tells the one who sends through it.
package protocol ClientPoolDelegate: AnyObject {
  /// Up to `count` requests may be submitted on the connection now; fewer, or none, is fine.
  func pool(_ pool: ClientPool, hasRoomFor count: Int, on connection: ClientConnection)

  /// A request ended; exactly once for each that was submitted.
  func pool(_ pool: ClientPool, finished tag: UInt64, with answer: RequestAnswer)

  func pool(_ pool: ClientPool, connectionOpened total: Int)
  func pool(_ pool: ClientPool, connectionEnded end: ConnectionEnd)
}

/// The connections of one lane to one endpoint with one credential; loop-bound.
///
/// Connections are opened when there is something to send, kept, and replaced when the server lets go
/// of them. One that lasted no longer than the shortest pause is followed by a jittered pause, which
/// grows while connections end without having answered anything: providers take rapid reconnecting for
/// an attack. Close the pool before letting go of it.
package final class ClientPool {
  private let loop: EventLoop
  package let settings: ClientSettings
  private unowned let delegate: any ClientPoolDelegate
  private var connections: [ClientConnection] = []
  /// Whether anything waits to be sent, as far as the delegate has said.
  private var isWanted = false
  private var failures = 0
  private var reconnectTimer: LoopTimer!
  private var isClosed = false

  package init(loop: EventLoop, settings: ClientSettings, delegate: any ClientPoolDelegate) {
    precondition(settings.connectionsMax > 0 && settings.streamsMax > 0)
    self.loop = loop
    self.settings = settings
    self.delegate = delegate
    reconnectTimer = LoopTimer(loop: loop) { [unowned self] in openMissing() }
  }

  deinit { reconnectTimer.cancel() }

  /// Connections that can carry requests now.
  package var readyConnections: Int {
    connections.count { $0.streamsAllowed != nil && !$0.isDraining }
  }

  package var inFlight: Int { connections.reduce(0) { $0 + $1.inFlight } }

  /// Streams used at most when every connection stands and the server allows all.
  package var streamsMax: Int { settings.connectionsMax * settings.streamsMax }

  /// Says that there is something to send: opens what is missing, and asks the delegate for requests
  /// at the end of this turn where there is room.
  package func wake() {
    isWanted = true
    openMissing()
    for connection in connections { connection.wake() }
  }

  /// Says that nothing waits: lost connections are not replaced until the next `wake`.
  package func rest() { isWanted = false }

  /// Replaces every connection, as after a change of credential; requests in flight go on.
  package func renew() {
    for connection in connections {
      connection.isReplaced = true
      connection.drain()
    }
    openMissing()
  }

  /// Closes everything; requests in flight end as `unknown` or `notSent`. Safe to call twice.
  package func close() {
    isClosed = true
    reconnectTimer.cancel()
    for connection in connections { connection.close() }
  }

  private func openMissing() {
    guard isWanted, !isClosed, !reconnectTimer.isArmed else { return }
    // Draining connections do not count: their places are free, up to a bound.
    while connections.count(where: { !$0.isDraining }) < settings.connectionsMax,
      connections.count < settings.connectionsMax * HTTP2Limits.drainingFactorMax
    {
      let connection = ClientConnection(loop: loop, settings: settings, owner: self)
      connections.append(connection)
      connection.open()
    }
  }

  /// Opens a lost connection's successor, at once only when that one was of use.
  private func replace(_ connection: ClientConnection) {
    guard !isClosed else { return }
    if !connection.isReplaced && !connection.isProven && !reconnectTimer.isArmed {
      pause(afterFailure: connection.answered == 0)
    }
    connection.isReplaced = true
    openMissing()
  }

  private func pause(afterFailure isFailure: Bool) {
    if isFailure { failures = min(failures + 1, 16) }
    let doublings = UInt64(max(0, failures - 1))
    let ceiling = min(settings.reconnectMsMax, settings.reconnectMsMin << doublings)
    reconnectTimer.schedule(afterMs: UInt64.random(in: (ceiling / 2)...ceiling))
  }
}

extension ClientPool: ClientConnectionOwner {
  func connectionIsReady(_ connection: ClientConnection) {
    delegate.pool(self, connectionOpened: readyConnections)
  }

  func connection(_ connection: ClientConnection, hasRoomFor count: Int) {
    delegate.pool(self, hasRoomFor: count, on: connection)
  }

  func connection(
    _ connection: ClientConnection, finished tag: UInt64, with answer: RequestAnswer
  ) {
    if answer.disposition == .answered { failures = 0 }
    delegate.pool(self, finished: tag, with: answer)
  }

  func connectionIsDraining(_ connection: ClientConnection) { replace(connection) }

  func connection(_ connection: ClientConnection, endedBecause end: ConnectionEnd) {
    connections.removeAll { $0 === connection }
    guard !isClosed else { return }
    delegate.pool(self, connectionEnded: end)
    replace(connection)
  }
}
