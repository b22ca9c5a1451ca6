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
  /// URL of an HTTP proxy to tunnel through.
  package let proxy: String?
  /// APNs with token authentication: one stream until a first push on the connection is accepted.
  package let startsWithOneStream: Bool

  package init(
    address: ServiceAddress, tls: TLSContext, proxy: String?, startsWithOneStream: Bool
  ) {
    endpoint = .tcp(host: address.host, port: address.port)
    authority = address.authority
    serverName = address.host
    self.tls = tls
    self.proxy = proxy
    self.startsWithOneStream = startsWithOneStream
  }
}
