internal import Glibc
internal import LocalServices
package import Reactor

/// `openssl s_server`: a TLS 1.2 server that logs each message, and does what is typed to it.
package final class OpenSSLServer: Sendable {
  private static let looksMax = 1_000
  private static let lookMs: UInt64 = 20
  private static let logBytesMax = 1 << 20

  package let port: UInt16
  private let log: String
  private let process: ChildProcess
  /// Written to its terminal.
  private let commands: Int32

  package init(_ certificates: TestCertificates) throws {
    let folder = certificates.authority.folder
    let path = "\(folder)/commands"
    log = "\(folder)/s_server.log"
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo \(path)", errno: errno) }
    // For reading as well, so that it opens without somebody at the other end.
    commands = open(path, O_RDWR | O_CLOEXEC)
    guard commands >= 0 else { throw SystemError("open \(path)", errno: errno) }
    port = try FreePort.find()
    process = try ChildProcess(
      "sh",
      [
        "-c",
        "exec openssl s_server -accept \(port) -tls1_2 -msg -cert "
          + "\(certificates.server.certificateFile) -key \(certificates.server.keyFile) < \(path)",
      ], output: .file(log), error: .file(log))
  }

  deinit { close(commands) }

  /// Asks the client for a second handshake.
  package func renegotiate() throws {
    guard write(commands, "r\n", 2) == 2 else {
      throw SystemError("write to \(commands)", errno: errno)
    }
  }

  /// How often its log has a text.
  package func logged(_ text: String) -> Int {
    (TextFile.read(log, bytesMax: Self.logBytesMax) ?? "").ranges(of: text).count
  }

  /// Whether its log gets to have a text.
  package func hasLogged(_ text: String, on loop: EventLoop) async -> Bool {
    for _ in 0..<Self.looksMax where logged(text) == 0 { await loop.sleep(ms: Self.lookMs) }
    return logged(text) > 0
  }
}
