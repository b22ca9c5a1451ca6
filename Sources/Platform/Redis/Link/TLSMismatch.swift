internal import Glibc
internal import Reactor

/// One side speaks TLS and the other does not. Neither says so: a Redis without TLS waits for the rest of a line, and one with
/// TLS ends the connection.
enum TLSMismatch {
  /// The first byte of a TLS alert (RFC 8446, 5.1).
  static let alert: UInt8 = 0x15

  /// Says what is to be changed when a connection ends so; nil when that says nothing of TLS.
  /// - Parameters:
  ///   - hasAnswered: whether anything was read.
  ///   - scheme: that of the URL that led there.
  static func advice(
    _ failure: StreamFailure?, at endpoint: Endpoint, usesTLS: Bool, hasAnswered: Bool,
    scheme: RedisScheme = .server
  ) -> String? {
    guard case .tcp = endpoint, !hasAnswered else { return nil }
    switch failure {
    case .handshakeTimeout where usesTLS: return withoutTLS(scheme)
    case .tls(let reason) where usesTLS && reason.contains("wrong version number"):
      return withoutTLS(scheme)
    case .system(let error) where !usesTLS && error.errno == ECONNRESET: return withTLS(scheme)
    case nil where !usesTLS: return withTLS(scheme)
    default: return nil
    }
  }

  static func answersWithTLS(_ scheme: RedisScheme) -> String {
    "it answers with TLS: write \(scheme.secure) in place of \(scheme.plain)"
  }

  private static func withTLS(_ scheme: RedisScheme) -> String {
    "it ended the connection before any answer: if it speaks TLS there, write \(scheme.secure) in "
      + "place of \(scheme.plain)"
  }

  private static func withoutTLS(_ scheme: RedisScheme) -> String {
    "it does not speak TLS: if it has none there, write \(scheme.plain) in place of \(scheme.secure)"
  }
}
