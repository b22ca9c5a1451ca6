package import Reactor

/// Where a provider's requests go and what its connections must heed.
package struct PushDestination: Sendable {
  package let endpoint: Endpoint
  /// The pseudo header `:authority`.
  package let authority: String
  /// For SNI and the check of the certificate.
  package let serverName: String
  /// Trusted authorities, client certificate and ALPN `h2`; shared by all connections.
  package let tls: TLSContext
  /// Tunnels to the endpoint; nil where it is connected to itself.
  package let proxy: ProxyServer?
  /// APNs with token authentication: one stream until a first push on the connection is accepted.
  package let startsWithOneStream: Bool
  /// Whether a peer may speak HTTP/1.1 instead of HTTP/2: a relay before a network of which each request carries many pushes.
  /// libcurl carries these requests.
  package let acceptsHTTP1: Bool

  package init(
    address: ServiceAddress, tls: TLSContext, proxy: ProxyServer? = nil,
    startsWithOneStream: Bool, acceptsHTTP1: Bool = false
  ) {
    endpoint = .tcp(host: address.host, port: address.port)
    authority = address.authority
    serverName = address.host
    self.tls = tls
    self.proxy = proxy
    self.startsWithOneStream = startsWithOneStream
    self.acceptsHTTP1 = acceptsHTTP1
  }
}

/// Host and port of a push network, or of what `endpoint:` names in its place.
package struct ServiceAddress: Sendable, Hashable {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  /// The authority as in a URL; the default port of https is left out.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}
