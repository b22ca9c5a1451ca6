package import Reactor

/// A request over HTTP/2 or 1.1, for what is not the path of a push: the exchange of tokens, and the doctor's question to JPush.
package struct HTTPRequest: Sendable {
  package var method: String
  /// An absolute `http:` or `https:` URL; any other scheme is refused.
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// Bounds the whole exchange: name resolution, connect, TLS, request and response.
  package var timeoutMs: Int
  /// The certificates of authorities to trust beside the system's directory of them, in PEM; nil for none.
  package var authorities: [UInt8]?
  /// The environment's `http_proxy` is never consulted: the configuration is the one place.
  package var proxy: ProxyServer?

  package init(
    method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = [], timeoutMs: Int = HTTPClientLimits.timeoutMs, authorities: [UInt8]? = nil,
    proxy: ProxyServer? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeoutMs = timeoutMs
    self.authorities = authorities
    self.proxy = proxy
  }
}
