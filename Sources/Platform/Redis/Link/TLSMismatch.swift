internal import Glibc
internal import Reactor

/// One side speaks TLS and the other does not. Neither says so: a Redis without TLS waits for the rest of a line, and one with
/// TLS ends the connection.
enum TLSMismatch {
  /// The first byte of a TLS alert (RFC 8446, 5.1).
  static let alert: UInt8 = 0x15

  /// Says what is to be changed when a connection ends so; nil when that says nothing of TLS.
  /// - Parameter hasAnswered: whether anything was read.
  static func advice(
    _ failure: StreamFailure?, at endpoint: Endpoint, usesTLS: Bool, hasAnswered: Bool
  ) -> String? {
    guard case .tcp = endpoint, !hasAnswered else { return nil }
    switch failure {
    case .handshakeTimeout where usesTLS: return withoutTLS
    case .tls(let reason) where usesTLS && reason.contains("wrong version number"):
      return withoutTLS
    case .system(let error) where !usesTLS && error.errno == ECONNRESET: return withTLS
    case nil where !usesTLS: return withTLS
    default: return nil
    }
  }

  static let withTLS =
    "it ended the connection before any answer: if it speaks TLS there, write rediss:// in place of redis://"
  static let answersWithTLS = "it answers with TLS: write rediss:// in place of redis://"
  private static let withoutTLS =
    "it does not speak TLS: if it has none there, write redis:// in place of rediss://"
}
