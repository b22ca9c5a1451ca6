/// Why a stream could not be opened, or ended.
package enum StreamFailure: Error, Equatable, CustomStringConvertible {
  case resolve(host: String, reason: String)
  case system(SystemError)
  case connectTimeout(Endpoint)
  /// The peer took the connection and did not finish the TLS handshake.
  case handshakeTimeout(Endpoint)
  /// The handshake failed: an untrusted or mismatching certificate, no common version or protocol.
  case tls(String)
  /// The peer ended the connection in the middle of a TLS record or without a closing alert.
  case truncated

  package var description: String {
    switch self {
    case .resolve(let host, let reason): "cannot resolve \(host): \(reason)"
    case .system(let error): error.description
    case .connectTimeout(let endpoint): "no answer from \(endpoint) to the connect in time"
    case .handshakeTimeout(let endpoint):
      "no answer from \(endpoint) to the TLS handshake in time: is it a port without TLS?"
    case .tls(let reason): "TLS: \(reason)"
    case .truncated: "the peer cut the TLS connection without closing it"
    }
  }
}
