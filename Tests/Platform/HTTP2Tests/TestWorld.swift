import HTTP2
import Reactor
import Testing
import TestSupport

/// A scripted server and a sender with a pool of connections to it, over TLS; loop-bound.
final class TestWorld {
  let occurrences: Occurrences
  let server: ScriptedServer
  let sender: TestSender
  /// The worker's own transport.
  var pool: ClientPool { sender.pool }
  var transport: any Transport { sender.transport }

  /// Makes both on a loop of their own, runs the body there, and closes them.
  static func run(
    over kind: TransportKind = .native,
    _ adjust: @Sendable (inout ClientSettings) -> Void = { _ in },
    _ body: @Sendable (isolated TestLane, TestWorld) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let world = try TestWorld(lane.loop, certificates, kind, adjust)
      defer { world.close() }
      try await body(lane, world)
    }
  }

  init(
    _ loop: EventLoop, _ certificates: TestCertificates, _ kind: TransportKind,
    _ adjust: (inout ClientSettings) -> Void
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
    sender = try TestSender(
      loop: loop, settings: settings, kind: kind, occurrences: occurrences)
  }

  func close() {
    sender.close()
    server.close()
  }

  /// Has one request answered: until then the curl transport, and the native one where the provider
  /// demands it, send no second.
  func warmUp() async {
    sender.send(1)
    #expect(await untilFinished(1))
    #expect(sender.endedOnce == [.yes])
  }

  /// From now on sends again what was not sent, as senders do. The curl transport hands back what waited for
  /// more than a moment.
  func resendUnsent() {
    sender.onFinish = { [unowned sender = sender] _, ending in
      if ending == .notSent { sender.send(1) }
    }
  }

  func until(_ condition: () -> Bool) async -> Bool { await occurrences.until(condition) }

  /// Waits until so many requests have ended.
  func untilFinished(_ count: Int) async -> Bool {
    await occurrences.until { sender.finished >= count }
  }

  /// Waits until so many requests were answered with 200.
  func untilAccepted(_ count: Int) async -> Bool {
    await occurrences.until { sender.accepted >= count }
  }
}
