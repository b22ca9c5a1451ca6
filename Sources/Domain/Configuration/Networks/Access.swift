/// How a provider is reached: where it is other than usual.
package struct Access: Sendable, Equatable {
  /// A simulator or a private relay in place of the provider's own host.
  package var endpoint: ServiceURL?
  /// PEM certificates of authorities to trust beside the system's.
  package var caFile: String?
  package var proxy: ProxyURL?
  /// Whom the proxy knows us as, with the file of the password.
  package var proxyLogin: ProxyLogin?

  package struct ProxyLogin: Sendable, Equatable {
    package var user: String
    package var passwordFile: String

    package init(user: String, passwordFile: String) {
      self.user = user
      self.passwordFile = passwordFile
    }
  }

  package init(
    endpoint: ServiceURL? = nil, caFile: String? = nil, proxy: ProxyURL? = nil,
    proxyLogin: ProxyLogin? = nil
  ) {
    self.endpoint = endpoint
    self.caFile = caFile
    self.proxy = proxy
    self.proxyLogin = proxyLogin
  }
}
