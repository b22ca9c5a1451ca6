import Glibc
import LocalServices
import Reactor
import TestSupport
import Testing

@testable import HTTPClient

@Suite("HTTP client and TLS renegotiation")
struct SecondHandshakeTests {
  private static let looksMax = 1_000
  private static let lookMs: UInt64 = 20

  @Test("a server that asks for a second handshake gets none")
  func refused() async throws {
    let certificates = try TestCertificates()
    let folder = certificates.authority.folder
    let (commands, log) = ("\(folder)/commands", "\(folder)/s_server.log")
    try #require(mkfifo(commands, 0o600) == 0)
    // For reading as well, so that it opens without somebody at the other end.
    let pipe = open(commands, O_RDWR | O_CLOEXEC)
    defer { close(pipe) }
    let port = try FreePort.find()
    let server = try ChildProcess(
      "sh",
      [
        "-c",
        "exec openssl s_server -accept \(port) -tls1_2 -msg -cert "
          + "\(certificates.server.certificateFile) -key \(certificates.server.keyFile) < \(commands)",
      ], output: .file(log), error: .file(log))
    @Sendable func count(_ text: String) -> Int {
      (TextFile.read(log, bytesMax: 1 << 20) ?? "").ranges(of: text).count
    }
    let client = HTTPClient()
    let request = HTTPRequest(
      url: "https://localhost:\(port)/", timeoutMs: 20_000,
      caFile: certificates.authority.certificateFile)
    try await TestLane.run { lane in
      func untilLogged(_ text: String) async -> Bool {
        for _ in 0..<Self.looksMax where count(text) == 0 { await lane.loop.sleep(ms: Self.lookMs) }
        return count(text) > 0
      }
      try #require(await untilLogged("ACCEPT"))
      let answer = Task { _ = try? await client.perform(request) }
      // It has no answer to the request.
      try #require(await untilLogged("GET / HTTP/1.1"))
      #expect(write(pipe, "r\n", 2) == 2)
      try #require(await untilLogged("HelloRequest"))
      // What the client says to it stands in the log of the server.
      #expect(await untilLogged("no_renegotiation"))
      #expect(count("ClientHello") == 1)
      client.shutdown()
      await answer.value
    }
    withExtendedLifetime(server) {}
  }
}
