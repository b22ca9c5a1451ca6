import CurlTransport
import HTTP2
import Reactor
import TestSupport
import Testing

/// A peer that speaks HTTP/1.1, to the transport over libcurl.
@Suite struct HTTP1PeerTests {
  /// How what the server says by itself arrives.
  private static let ok = TestSender.Ending(
    disposition: .answered, status: 200, body: "{}", contentType: "application/json")

  /// - Parameter alpn: what the peer agrees to.
  private static func run(
    alpn: [String],
    answer: @escaping @Sendable (HTTP1Server.Request) -> String = { _ in
      HTTP1Server.response()
    },
    _ body: @Sendable (isolated TestLane, HTTP1Server, TestSender, Occurrences) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try HTTP1Server(
        loop: lane.loop, tls: try certificates.serverContext(alpn: alpn), answer: answer)
      var settings = ClientSettings(
        endpoint: .tcp(host: "localhost", port: server.port),
        tls: try certificates.clientContext(alpn: ["h2"]))
      settings.reconnectMsMin = 10
      let sender = try TestSender(
        loop: lane.loop, settings: settings, kind: .curl, occurrences: occurrences)
      defer {
        sender.close()
        server.close()
      }
      try await body(lane, server, sender, occurrences)
    }
  }

  @Test(
    "gets each request once, over connections that are kept",
    arguments: [["http/1.1"], []])
  func sends(alpn: [String]) async throws {
    try await Self.run(alpn: alpn) { lane, server, sender, occurrences in
      sender.send(20)
      #expect(await occurrences.until { sender.finished == 20 })
      #expect(sender.count(Self.ok) == 20)
      #expect(server.received == 20)
      // Those of the probes, and as many as carry requests.
      #expect(server.opened <= 4)
    }
  }

  @Test("is heard when it refuses, with its words")
  func refuses() async throws {
    try await Self.run(
      alpn: ["http/1.1"],
      answer: { _ in HTTP1Server.response("429 Too Many Requests", body: "slow down") }
    ) { lane, server, sender, occurrences in
      sender.send(1)
      #expect(await occurrences.until { sender.finished == 1 })
      #expect(
        sender.endedOnce == [
          TestSender.Ending(
            disposition: .answered, status: 429, body: "slow down",
            contentType: "application/json")
        ])
    }
  }

  @Test("is sent to again after it has closed its connections between requests")
  func opensAnew() async throws {
    try await Self.run(alpn: ["http/1.1"]) { lane, server, sender, occurrences in
      sender.send(1)
      #expect(await occurrences.until { sender.finished == 1 })
      server.closeConnections()
      sender.onFinish = { _, ending in if ending != Self.ok { sender.send(1) } }
      sender.send(1)
      #expect(await occurrences.until { sender.count(Self.ok) == 2 })
    }
  }

  @Test("that is gone is looked for again with pauses, and what was not sent is said so")
  func looksAgain() async throws {
    try await Self.run(alpn: ["http/1.1"]) { lane, server, sender, occurrences in
      sender.send(1)
      #expect(await occurrences.until { sender.finished == 1 })
      server.close()
      sender.onFinish = { _, ending in if ending != Self.ok { sender.send(1) } }
      sender.send(1)
      #expect(await occurrences.until { sender.connectionEnds.count >= 3 })
      #expect(sender.count(Self.ok) == 1)
      // One left before the end was noticed, and one was tried: the others wait for a probe to connect.
      #expect(sender.submitted <= 3)
    }
  }
}
