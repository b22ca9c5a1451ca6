import Reactor

/// The connections of one pool as far as it knows them, and those that nobody was told of yet; loop-bound.
final class CurlConnections {
  private let loop: EventLoop
  private let target: CurlTarget
  private var known: [CurlConnection] = []
  /// Connections that opened or ended and were not told of yet.
  private var openedUntold = 0
  private var endedUntold: [CurlConnection] = []
  /// Whether the peer spoke HTTP/1.1 when it was connected to last: each request has a connection to itself, and
  /// opens it if it must.
  var isOneByOne = false
  /// Requests in flight that libcurl was allowed to send.
  private(set) var begun = 0

  init(loop: EventLoop, target: CurlTarget) {
    self.loop = loop
    self.target = target
  }

  /// How many can carry requests now. One by one, a connection may be gone between requests, and the next request opens
  /// another.
  var ready: Int { max(isOneByOne ? 1 : 0, known.count { !$0.isCut }) }

  /// Whether one of them has not answered yet.
  var hasUnproven: Bool { known.contains { !$0.isProven && !$0.isCut } }

  /// Whether libcurl can choose none of them that waits for its first answer.
  var isClear: Bool { known.allSatisfy { $0.isProven || $0.isCut || $0.inFlight == 0 } }

  /// Whether libcurl keeps this socket for requests to come.
  func keeps(_ socket: CInt) -> Bool { known.contains { $0.socket == socket && !$0.isCut } }

  /// The connection with this port at our end, which may be new.
  /// - Parameters:
  ///   - socket: its descriptor; -1 when that is not known.
  ///   - session: its `SSL *`; nil without one.
  func connection(
    onPort port: UInt16, socket: @autoclosure () -> CInt,
    session: @autoclosure () -> UnsafeMutableRawPointer?
  ) -> CurlConnection {
    if let connection = known.first(where: { $0.port == port }) { return connection }
    let connection = CurlConnection(port: port, socket: socket(), nowNs: loop.nowNs)
    isOneByOne = !target.speaksHTTP2(session())
    openedUntold += 1
    known.append(connection)
    return connection
  }

  // MARK: Requests

  /// libcurl may send a request on one of them.
  func begin(on connection: CurlConnection) {
    connection.inFlight += 1
    begun += 1
  }

  /// A request that was sent has ended.
  func end(on connection: CurlConnection) {
    connection.inFlight -= 1
    begun -= 1
  }

  // MARK: Ends

  /// The peer has ended a connection that nothing is sent on.
  func lost(_ socket: CInt) {
    known.first { $0.socket == socket }?.cut(because: "closed by the peer")
  }

  /// libcurl closes a socket.
  func closed(_ socket: CInt) {
    guard let index = known.firstIndex(where: { $0.socket == socket }) else { return }
    let connection = known.remove(at: index)
    if !connection.isPassing { endedUntold.append(connection) }
  }

  /// The connections that have ended since it was asked last.
  func takeEnded() -> [CurlConnection] {
    guard !endedUntold.isEmpty else { return [] }
    let ended = endedUntold
    endedUntold.removeAll(keepingCapacity: true)
    return ended
  }

  /// Whether one has opened since it was asked last.
  func takeOpened() -> Bool {
    defer { openedUntold = 0 }
    return openedUntold > 0
  }

  func removeAll() { known.removeAll() }
}
