import HTTP2

/// The easy handles of a pool: those in use, and those that wait for the next request.
struct CurlTransfers {
  private let target: CurlTarget
  private let sockets: CurlSockets
  private let connections: CurlConnections
  private var all: [CurlTransfer] = []
  private var idle: [CurlTransfer] = []
  private var idleProbes: [CurlTransfer] = []

  init(to target: CurlTarget, sockets: CurlSockets, connections: CurlConnections) {
    self.target = target
    self.sockets = sockets
    self.connections = connections
  }

  /// Requests and probes that libcurl has.
  var running: [CurlTransfer] { all.filter(\.isRunning) }

  /// - Returns: nil when memory ran out.
  mutating func take(isProbe: Bool = false) -> CurlTransfer? {
    (isProbe ? idleProbes.popLast() : idle.popLast()) ?? make(isProbe: isProbe)
  }

  mutating func giveBack(_ transfer: CurlTransfer) {
    transfer.rest()
    if transfer.isProbe { idleProbes.append(transfer) } else { idle.append(transfer) }
  }

  private mutating func make(isProbe: Bool) -> CurlTransfer? {
    let made = CurlTransfer(
      isProbe: isProbe, to: target, sockets: sockets, connections: connections)
    if let made { all.append(made) }
    return made
  }
}
