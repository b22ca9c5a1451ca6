/// How a provider is reached: where it is other than usual.
package struct Access: Sendable, Equatable {
  /// A simulator or a private relay in place of the provider's own host.
  package var endpoint: ServiceURL?
  /// PEM certificates to trust in place of the system's.
  package var caFile: String?
  package var proxy: ProxyURL?

  package init(endpoint: ServiceURL? = nil, caFile: String? = nil, proxy: ProxyURL? = nil) {
    self.endpoint = endpoint
    self.caFile = caFile
    self.proxy = proxy
  }
}
