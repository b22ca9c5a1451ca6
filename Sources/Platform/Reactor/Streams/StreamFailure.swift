/// Why a stream could not be opened, or ended.
package enum StreamFailure: Error, Equatable, CustomStringConvertible {
  case resolve(host: String, reason: String)
  case system(SystemError)
  case connectTimeout(Endpoint)
  /// The peer took the connection and did not finish the TLS handshake.
  case handshakeTimeout(Endpoint)
  /// The proxy gives no tunnel; the reason is never in the proxy's words, which may repeat a secret.
  case proxy(Endpoint, reason: String)
  /// The handshake failed: an untrusted or mismatching certificate, no common version.
  case tls(String)
  /// The peer speaks TLS, and none of the protocols that it was asked for, such as HTTP/2.
  case noProtocol
  /// The peer ended the connection in the middle of a TLS record or without a closing alert.
  case truncated

  /// How much it explains where several addresses failed: more where somebody has said why.
  var rank: Int {
    switch self {
    case .resolve, .system, .connectTimeout, .handshakeTimeout, .truncated: 0
    case .proxy: 1
    case .tls, .noProtocol: 2
    }
  }

  package var description: String {
    switch self {
    case .resolve(let host, let reason): "cannot resolve \(host): \(reason)"
    case .system(let error): error.description
    case .connectTimeout(let endpoint): "no answer from \(endpoint) to the connect in time"
    case .handshakeTimeout(let endpoint):
      "no answer from \(endpoint) to the TLS handshake in time: is it a port without TLS?"
    case .proxy(let endpoint, let reason): "the proxy \(endpoint) \(reason)"
    case .tls(let reason): "TLS: \(reason)"
    case .noProtocol: "TLS: the peer speaks none of the protocols asked for by ALPN"
    case .truncated: "the peer cut the TLS connection without closing it"
    }
  }
}
