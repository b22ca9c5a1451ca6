internal import Reactor

/// The certificates of authorities that an account trusts beside the system's.
enum AccountAuthorities: Sendable {
  case none
  /// A file with them, by its path.
  case file(String)
  /// The PEM of an app that stands in Redis.
  case text(String)

  /// The certificates in PEM; nil for none.
  func pem() throws(TLSError) -> [UInt8]? {
    switch self {
    case .none: nil
    case .file(let path): try TrustStore.pem(path)
    case .text(let text): try TrustStore.pem(of: Array(text.utf8), file: "ca")
    }
  }
}
