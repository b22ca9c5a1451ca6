import HTTP2Server
import Glibc
import HTTP2
import Reactor

/// Writes the same bytes to whoever connects, and nothing more; loop-bound.
final class RawServer {
  private var listener: Listener!
  private var accepted: [CInt] = []

  var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: listener.port) }

  init(loop: EventLoop, bytes: [UInt8]) throws {
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      shutdown(descriptor, CInt(SHUT_WR))
      accepted.append(descriptor)
    }
  }

  func close() {
    listener.close()
    for descriptor in accepted { Glibc.close(descriptor) }
    accepted = []
  }
}

enum RawClient {
  /// Connects, writes, and says that nothing more comes.
  static func send(_ bytes: [UInt8], to port: UInt16) throws {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Broken(description: "connect: errno \(errno)") }
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    shutdown(descriptor, CInt(SHUT_WR))
  }
}

/// Sends one request and counts its endings; loop-bound.
final class OneRequest: TransportDelegate {
  private(set) var pool: ClientPool!
  private let signal: LoopSignal
  private(set) var endings = 0
  private var isSubmitted = false
  private var connectionsEnded = 0
  private let head = RequestHead(authority: "localhost", path: nil, headers: [])
  private let path = Array("/3/device/aabb".utf8)

  init(loop: EventLoop, endpoint: Endpoint) {
    signal = LoopSignal(loop: loop)
    var settings = ClientSettings(endpoint: endpoint, tls: nil)
    settings.connectionsMax = 1
    settings.requestTimeoutMs = 2_000
    settings.reconnectMsMin = 1
    settings.reconnectMsMax = 2
    pool = ClientPool(loop: loop, settings: settings, delegate: self)
  }

  /// - Returns: false when neither the request nor a connection without it ended in time.
  func untilEnded() async -> Bool {
    while endings == 0 {
      // Some servers never get as far as to take a request.
      if !isSubmitted && connectionsEnded >= 2 {
        endings = 1
        return true
      }
      guard await signal.wait(upToMs: 20_000) else { return false }
    }
    return true
  }

  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    guard !isSubmitted else { return }
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    isSubmitted = path.withUnsafeBytes {
      taker.submit(
        head, path: $0, body: RequestBody(before: none, own: none, after: none), tag: 1)
    }
  }

  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign
  {
    endings += 1
    signal.raise()
    return .none
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {}

  func transport(_ transport: any Transport, connectionOpened total: Int) {}

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    connectionsEnded += 1
    signal.raise()
    pool.wake()
  }
}

/// Answers every request with 200; loop-bound.
final class AnsweringServer: ServerConnectionDelegate {
  private var listener: Listener!
  private var connections: [ServerConnection] = []
  private let signal: LoopSignal
  private(set) var closed = 0

  var port: UInt16 { listener.port }

  init(loop: EventLoop) throws {
    signal = LoopSignal(loop: loop)
    var number: UInt64 = 0
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      number += 1
      connections.append(
        ServerConnection(
          id: number, loop: loop, descriptor: descriptor, tls: nil, settings: ServerSettings(),
          delegate: self))
    }
  }

  func until(_ condition: () -> Bool) async -> Bool {
    while !condition() {
      guard await signal.wait(upToMs: 20_000) else { return condition() }
    }
    return true
  }

  func close() { listener.close() }

  func connectionOpened(_ connection: ServerConnection) {}
  func connection(_ connection: ServerConnection, receivedHeadersOf request: ServerRequest) {}

  func connection(_ connection: ServerConnection, received request: ServerRequest) {
    connection.respond(request, status: 200, headers: [])
  }

  func connection(_ connection: ServerConnection, sawViolation reason: String) {}

  func connectionClosed(_ connection: ServerConnection) {
    closed += 1
    connections.removeAll { $0 === connection }
    signal.raise()
  }
}
