import HTTP2
import Reactor

/// A scripted server and a sender with a pool of connections to it, over TLS; loop-bound.
final class TestWorld {
  let occurrences: Occurrences
  let server: ScriptedServer
  let sender: TestSender
  var pool: ClientPool { sender.pool }

  /// Makes both on a loop of their own, runs the body there, and closes them.
  static func run(
    _ adjust: @Sendable (inout ClientSettings) -> Void = { _ in },
    _ body: @Sendable (isolated TestLane, TestWorld) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let world = try TestWorld(lane.loop, certificates, adjust)
      defer { world.close() }
      try await body(lane, world)
    }
  }

  private init(
    _ loop: EventLoop, _ certificates: TestCertificates, _ adjust: (inout ClientSettings) -> Void
  ) throws {
    occurrences = Occurrences(loop: loop)
    server = try ScriptedServer(
      loop: loop, tls: try certificates.serverContext(alpn: ["h2"]), occurrences: occurrences)
    var settings = ClientSettings(
      endpoint: server.endpoint, tls: try certificates.clientContext(alpn: ["h2"]))
    settings.connectionsMax = 1
    settings.requestTimeoutMs = 20_000
    settings.reconnectMsMin = 10
    adjust(&settings)
    sender = TestSender(loop: loop, settings: settings, occurrences: occurrences)
  }

  func close() {
    pool.close()
    server.close()
  }

  func until(_ condition: () -> Bool) async -> Bool { await occurrences.until(condition) }

  /// Waits until so many requests have ended.
  func untilFinished(_ count: Int) async -> Bool {
    await occurrences.until { sender.finished >= count }
  }
}
