import HTTP2Server
import HTTP2
import LocalServices
import Reactor
import Testing
import TestSupport

extension ConformanceTests {
  /// Runs a body beside a server that asks for a certificate, and a sender that shows this one.
  private func withIdentity(
    _ kind: TransportKind, validDays: Int? = nil,
    _ body:
      @Sendable (isolated TestLane, ScriptedServer, TestSender, Occurrences) async throws ->
      Void
  ) async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(
      commonName: "push", fileName: "client", validDays: validDays)
    let identity = try ClientIdentity(file: issued.combinedFile)
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try ScriptedServer(
        loop: lane.loop,
        tls: try certificates.serverContext(alpn: ["h2"], asksForCertificate: true),
        occurrences: occurrences)
      let settings = ClientSettings(
        endpoint: server.endpoint,
        tls: try certificates.clientContext(alpn: ["h2"], identity: identity))
      let sender = try TestSender(
        loop: lane.loop, settings: settings, kind: kind, occurrences: occurrences)
      defer {
        sender.close()
        server.close()
      }
      try await body(lane, server, sender, occurrences)
    }
  }

  @Test("shows the client certificate of its provider", arguments: TransportKind.own)
  func clientCertificate(kind: TransportKind) async throws {
    try await withIdentity(kind) { lane, server, sender, occurrences in
      let shown = Flag(false)
      server.onRequest = { connection, request in
        shown.isSet = connection.clientShowedCertificate
        ScriptedServer.answer(connection, request)
      }
      sender.send(1)
      #expect(await occurrences.until { sender.finished == 1 })
      #expect(sender.endedOnce == [.yes])
      #expect(shown.isSet)
    }
  }

  @Test(
    "ends when the peer refuses a certificate which has expired, and says so",
    arguments: TransportKind.own)
  func expiredCertificate(kind: TransportKind) async throws {
    try await withIdentity(kind, validDays: -1) { lane, server, sender, occurrences in
      sender.send(1)
      #expect(await occurrences.until { !sender.connectionEnds.isEmpty })
      #expect("\(sender.connectionEnds[0])".lowercased().contains("expired"))
      #expect(server.received == 0)
    }
  }

  @Test(
    "sends nothing to a peer whose name is its certificate's common name only",
    arguments: TransportKind.allCases)
  func commonNameOnly(kind: TransportKind) async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueServerByCommonName("localhost")
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try ScriptedServer(
        loop: lane.loop,
        tls: try .server(
          certificateFile: issued.certificateFile, keyFile: issued.keyFile, alpn: ["h2"]),
        occurrences: occurrences)
      guard case .tcp(_, let port) = server.endpoint else { return }
      let settings = ClientSettings(
        endpoint: .tcp(host: "localhost", port: port),
        tls: try certificates.clientContext(alpn: ["h2"]))
      let sender = try TestSender(
        loop: lane.loop, settings: settings, kind: kind, occurrences: occurrences)
      sender.send(1)
      #expect(await occurrences.until { !sender.connectionEnds.isEmpty })
      #expect("\(sender.connectionEnds[0])".lowercased().contains("certificate"))
      #expect(server.received == 0)
      sender.close()
      server.close()
    }
  }

  @Test("sends nothing to a peer that does not agree to HTTP/2", arguments: TransportKind.own)
  func otherProtocol(kind: TransportKind) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try ScriptedServer(
        loop: lane.loop, tls: try certificates.serverContext(alpn: []), occurrences: occurrences)
      let settings = ClientSettings(
        endpoint: server.endpoint, tls: try certificates.clientContext(alpn: ["h2"]))
      let sender = try TestSender(
        loop: lane.loop, settings: settings, kind: kind, occurrences: occurrences)
      sender.send(1)
      #expect(await occurrences.until { !sender.connectionEnds.isEmpty })
      #expect(sender.submitted == 0)
      #expect(server.received == 0)
      sender.close()
      server.close()
    }
  }
}
