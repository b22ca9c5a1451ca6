import Reactor
import TestSupport
import Testing

@Suite("TLS renegotiation")
struct RenegotiationTests {
  @Test("a server that asks for a second handshake gets none, and the connection goes on")
  func refused() async throws {
    let certificates = try TestCertificates()
    let server = try OpenSSLServer(certificates)
    try await TestLane.run { lane in
      try #require(await server.hasLogged("ACCEPT", on: lane.loop))
      let occurrences = Occurrences(loop: lane.loop)
      let recorder = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: recorder)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port), tls: try certificates.clientContext(),
        serverName: "localhost", timeoutMs: 20_000)
      try #require(await occurrences.until { recorder.opened == 1 })
      try server.renegotiate()
      try #require(await server.hasLogged("HelloRequest", on: lane.loop))
      // What the client says to it stands in the log of the server.
      #expect(await server.hasLogged("no_renegotiation", on: lane.loop))
      #expect(server.logged("ClientHello") == 1)
      stream.close()
    }
  }
}
