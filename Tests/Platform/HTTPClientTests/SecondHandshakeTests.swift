import LocalServices
import Reactor
import TestSupport
import Testing

@testable import HTTPClient

@Suite("HTTP client and TLS renegotiation")
struct SecondHandshakeTests {
  @Test("a server that asks for a second handshake gets none")
  func refused() async throws {
    let certificates = try TestCertificates()
    let server = try OpenSSLServer(certificates)
    let client = HTTPClient()
    let request = HTTPRequest(
      url: "https://localhost:\(server.port)/", timeoutMs: 20_000,
      authorities: try TrustStore.pem(certificates.authority.certificateFile))
    try await TestLane.run { lane in
      try #require(await server.hasLogged("ACCEPT", on: lane.loop))
      let answer = Task { _ = try? await client.perform(request) }
      // It has no answer to the request.
      try #require(await server.hasLogged("GET / HTTP/1.1", on: lane.loop))
      try server.renegotiate()
      try #require(await server.hasLogged("HelloRequest", on: lane.loop))
      // What the client says to it stands in the log of the server.
      #expect(await server.hasLogged("no_renegotiation", on: lane.loop))
      #expect(server.logged("ClientHello") == 1)
      client.shutdown()
      await answer.value
    }
  }
}
