import Glibc
import LocalServices
import Reactor
import TestSupport
import Testing

@Suite("TLS renegotiation")
struct RenegotiationTests {
  private static let looksMax = 1_000
  private static let lookMs: UInt64 = 20

  @Test("a server that asks for a second handshake gets none, and the connection goes on")
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
      (TextFile.read(log, bytesMax: 1 << 20) ?? "").components(of: text)
    }
    try await TestLane.run { lane in
      func untilLogged(_ text: String, _ times: Int = 1) async -> Bool {
        for _ in 0..<Self.looksMax where count(text) < times {
          await lane.loop.sleep(ms: Self.lookMs)
        }
        return count(text) >= times
      }
      try #require(await untilLogged("ACCEPT"))
      let occurrences = Occurrences(loop: lane.loop)
      let recorder = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: recorder)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: port), tls: try certificates.clientContext(),
        serverName: "localhost", timeoutMs: 20_000)
      try #require(await occurrences.until { recorder.opened == 1 })
      #expect(write(pipe, "r\n", 2) == 2)
      try #require(await untilLogged("HelloRequest"))
      // What the client says to it stands in the log of the server.
      #expect(await untilLogged("no_renegotiation"))
      #expect(count("ClientHello") == 1)
      stream.close()
    }
    withExtendedLifetime(server) {}
  }
}

extension String {
  fileprivate func components(of text: String) -> Int {
    ranges(of: text).count
  }
}
