import HTTP2Server
import HTTP2
import Reactor
import TestSupport

/// A server on a free port that answers as its closures say; loop-bound. It counts what its clients
/// do, and holds them to what it allowed.
final class ScriptedServer: ServerConnectionDelegate {
  let loop: EventLoop
  private let occurrences: Occurrences
  private let tls: TLSContext?
  private var listener: Listener!
  var settings = ServerSettings()
  private(set) var accepted = 0
  private(set) var connections: [ServerConnection] = []
  private(set) var closed = 0
  private(set) var received = 0
  private(set) var openStreamsMax = 0
  private(set) var violations: [String] = []
  var onOpen: (ServerConnection) -> Void = { _ in }
  var onHeaders: (ServerConnection, ServerRequest) -> Void = { _, _ in }
  var onRequest: (ServerConnection, ServerRequest) -> Void

  init(loop: EventLoop, tls: TLSContext?, occurrences: Occurrences) throws {
    self.loop = loop
    self.tls = tls
    self.occurrences = occurrences
    let yes = ResponseHead(status: 200, headers: [("apns-id", "x")])
    onRequest = { $0.respond($1, head: yes) }
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      accepted += 1
      connections.append(
        ServerConnection(
          id: UInt64(accepted), loop: loop, descriptor: descriptor, tls: tls, settings: settings,
          delegate: self))
    }
  }

  var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: listener.port) }

  func stopListening() { listener.close() }

  /// Answers 200.
  static func answer(_ connection: ServerConnection, _ request: ServerRequest) {
    connection.respond(request, status: 200, headers: [])
  }

  func close() {
    listener.close()
    for connection in connections { connection.close() }
  }

  func connectionOpened(_ connection: ServerConnection) { onOpen(connection) }

  func connection(_ connection: ServerConnection, receivedHeadersOf request: ServerRequest) {
    received += 1
    openStreamsMax = max(openStreamsMax, connection.openStreams)
    onHeaders(connection, request)
    occurrences.note()
  }

  func connection(_ connection: ServerConnection, received request: ServerRequest) {
    onRequest(connection, request)
    occurrences.note()
  }

  func connection(_ connection: ServerConnection, sawViolation reason: String) {
    violations.append(reason)
    occurrences.note()
  }

  func connectionClosed(_ connection: ServerConnection) {
    closed += 1
    connections.removeAll { $0 === connection }
    occurrences.note()
  }
}
