import Glibc
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("TLS")
struct TLSTests {
  /// How one handshake ended on both sides.
  private struct Handshake: Sendable {
    var clientFailure: StreamFailure?
    var serverFailure: StreamFailure?
    var isOpen = false
    var showedCertificate = false
  }

  private static func handshake(
    client: TLSContext, server: TLSContext, serverName: String? = nil
  ) async throws -> Handshake {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let listening = try TestServer(loop: lane.loop, tls: server, occurrences: occurrences)
      let recorder = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: recorder)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: listening.port), tls: client, serverName: serverName,
        timeoutMs: 20_000)
      // With TLS 1.3 the client is open before the server has looked at its certificate.
      _ = await occurrences.until {
        guard let accepted = listening.recorders.first else { return !recorder.endings.isEmpty }
        return accepted.opened == 1 && recorder.opened == 1
          || !accepted.endings.isEmpty && !recorder.endings.isEmpty
      }
      var result = Handshake()
      result.clientFailure = recorder.failure
      result.serverFailure = listening.recorders.first?.failure
      result.isOpen = stream.isOpen
      result.showedCertificate = listening.streams.first?.peerShowedCertificate ?? false
      #expect(recorder.endings.count <= 1)
      stream.close()
      return result
    }
  }

  @Test("opens when the authority, the name and the protocol fit")
  func fits() async throws {
    let certificates = try TestCertificates()
    for name in ["localhost", nil, "::1"] {
      let result = try await Self.handshake(
        client: try certificates.clientContext(alpn: ["h2"]),
        server: try certificates.serverContext(alpn: ["h2"]), serverName: name)
      #expect(result.isOpen)
      #expect(!result.showedCertificate)
    }
  }

  @Test("refuses a server of an authority that is not trusted")
  func untrusted() async throws {
    let certificates = try TestCertificates()
    let result = try await Self.handshake(
      client: try .client(caFile: nil), server: try certificates.serverContext())
    #expect(!result.isOpen)
    #expect(result.clientFailure?.description.contains("certificate is refused") == true)
    #expect(result.serverFailure != nil)
  }

  @Test(
    "refuses a certificate for another name or address", arguments: ["example.com", "127.0.0.2"])
  func wrongName(name: String) async throws {
    let certificates = try TestCertificates()
    let result = try await Self.handshake(
      client: try certificates.clientContext(), server: try certificates.serverContext(),
      serverName: name)
    #expect(!result.isOpen)
    #expect(result.clientFailure?.description.contains("mismatch") == true)
  }

  @Test("refuses a peer that shares no protocol", arguments: [["http/1.1"], []])
  func wrongProtocol(offered: [String]) async throws {
    let certificates = try TestCertificates()
    let result = try await Self.handshake(
      client: try certificates.clientContext(alpn: ["h2"]),
      server: try certificates.serverContext(alpn: offered))
    #expect(!result.isOpen)
    #expect(result.clientFailure?.description.contains("protocol") == true)
  }

  @Test("refuses a client that speaks TLS 1.1 at most")
  func oldVersion() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, tls: try certificates.serverContext(), occurrences: occurrences)
      let client = try ChildProcess(
        "openssl",
        [
          "s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_1", "-cipher",
          "ALL:@SECLEVEL=0",
        ], output: .discard, error: .discard)
      #expect(await occurrences.until { server.recorders.first?.endings.count == 1 })
      #expect(server.recorders[0].opened == 0)
      #expect(server.recorders[0].failure?.description.contains("unsupported protocol") == true)
      withExtendedLifetime(client) {}
    }
  }

  @Test("refuses a certificate whose only name is its common name")
  func commonNameOnly() async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueServerByCommonName("localhost")
    let result = try await Self.handshake(
      client: try certificates.clientContext(),
      server: try .server(certificateFile: issued.certificateFile, keyFile: issued.keyFile),
      serverName: "localhost")
    #expect(!result.isOpen)
    #expect(result.clientFailure?.description.contains("mismatch") == true)
  }

  @Test("shows the intermediate certificates as well, from PEM and from PKCS#12")
  func intermediateCertificates() async throws {
    let certificates = try TestCertificates()
    let intermediate = try CertificateAuthority(intermediateOf: certificates.authority)
    let issued = try intermediate.issueClient(commonName: "app", p12Password: "secret")
    for identity in [
      try ClientIdentity(file: issued.combinedFile),
      try ClientIdentity(file: try #require(issued.p12File), password: "secret"),
    ] {
      let result = try await Self.handshake(
        client: try certificates.clientContext(identity: identity),
        server: try certificates.serverContext(asksForCertificate: true))
      #expect(result.isOpen)
      #expect(result.showedCertificate)
    }
  }

  @Test("shows a client certificate when asked, read from PEM or from PKCS#12")
  func clientCertificate() async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(commonName: "app", p12Password: "secret")
    let identities = [
      try ClientIdentity(file: issued.combinedFile),
      try ClientIdentity(file: try #require(issued.p12File), password: "secret"),
    ]
    for identity in identities {
      let result = try await Self.handshake(
        client: try certificates.clientContext(identity: identity),
        server: try certificates.serverContext(asksForCertificate: true))
      #expect(result.isOpen)
      #expect(result.showedCertificate)
    }
  }

  @Test("lets in a client without a certificate, and says that it showed none")
  func noClientCertificate() async throws {
    let certificates = try TestCertificates()
    let result = try await Self.handshake(
      client: try certificates.clientContext(),
      server: try certificates.serverContext(asksForCertificate: true))
    #expect(result.isOpen)
    #expect(!result.showedCertificate)
  }

  @Test("refuses a client certificate of another authority")
  func foreignClientCertificate() async throws {
    let certificates = try TestCertificates()
    let foreign = try TestCertificates()
    let issued = try foreign.authority.issueClient(commonName: "app")
    let result = try await Self.handshake(
      client: try certificates.clientContext(
        identity: try ClientIdentity(file: issued.combinedFile)),
      server: try certificates.serverContext(asksForCertificate: true))
    #expect(!result.isOpen)
    #expect(result.serverFailure?.description.contains("refused") == true)
  }

  @Test("names the file that cannot be used and why, and never the password")
  func badFiles() throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(commonName: "app", p12Password: "secret")
    let p12 = try #require(issued.p12File)
    let wrong = #expect(throws: TLSError.self) {
      try ClientIdentity(file: p12, password: "guess")
    }
    #expect(wrong?.message.contains(p12) == true)
    #expect(wrong?.message.contains("another password") == true)
    #expect(wrong?.message.contains("guess") == false)
    let none = #expect(throws: TLSError.self) {
      try ClientIdentity(file: issued.certificateFile, password: "")
    }
    #expect(none?.message.contains("without its private key") == true)
    let noKey = #expect(throws: TLSError.self) {
      try ClientIdentity(file: issued.certificateFile)
    }
    #expect(noKey?.message.contains("private key") == true)
    let missing = #expect(throws: TLSError.self) { try ClientIdentity(file: "/nonexistent") }
    #expect(missing?.message.contains("/nonexistent") == true)
    let noAuthority = #expect(throws: TLSError.self) {
      try TLSContext.client(caFile: "/nonexistent")
    }
    #expect(noAuthority?.message.contains("/nonexistent") == true)
    let otherKey = #expect(throws: TLSError.self) {
      try TLSContext.server(
        certificateFile: certificates.server.certificateFile, keyFile: issued.keyFile)
    }
    #expect(otherKey?.message.contains(issued.keyFile) == true)
  }

  @Test("reads on behind a record that came in two parts")
  func readsBehindSplitRecord() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let listening = try TestServer(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["h2"]), occurrences: occurrences
      )
      let relay = try HoldingRelay(
        loop: lane.loop, occurrences: occurrences, serverPort: listening.port)
      let recorder = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: recorder)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: relay.port),
        tls: try certificates.clientContext(alpn: ["h2"]), serverName: "localhost",
        timeoutMs: 20_000)
      func say(_ byte: UInt8) {
        let bytes = [UInt8](repeating: byte, count: 1_000)
        _ = bytes.withUnsafeBytes { listening.streams[0].write($0) }
        listening.streams[0].requestFlush()
      }
      try #require(
        await occurrences.until { recorder.opened == 1 && listening.recorders.first?.opened == 1 })
      say(0)
      try #require(await occurrences.until { recorder.received.count == 1_000 })
      relay.isHolding = true
      say(1)
      try #require(await occurrences.until { relay.held.count >= 1_000 })
      let first = relay.held.count
      say(2)
      try #require(await occurrences.until { relay.held.count >= first + 1_000 })
      relay.release(first / 2)
      // The client takes the half before the rest comes.
      await lane.loop.sleep(ms: 50)
      #expect(recorder.received.count == 1_000)
      relay.release(relay.held.count)
      #expect(await occurrences.until { recorder.received.count == 3_000 })
      stream.close()
      relay.close()
    }
  }
}
