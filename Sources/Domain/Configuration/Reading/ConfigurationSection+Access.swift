internal import Model

extension ConfigurationSection {
  /// Fields of former versions, which mean nothing any more and stop no worker. `transport` chose what carries the pushes.
  static let formerFields = ["transport"]

  static let accessFields = ["endpoint", "ca_file", "proxy", "proxy_user", "proxy_password_file"]

  /// How the provider is reached, `accessFields`.
  func access() throws(ConfigurationError) -> Access {
    let proxy = try value("proxy") { (text) throws(InvalidField) in try ProxyURL(text) }
    return Access(
      endpoint: try value("endpoint") { (text) throws(InvalidField) in try ServiceURL(text) },
      caFile: try file("ca_file"), proxy: proxy,
      proxyLogin: try source.reading(else: nil) { () throws(ConfigurationError) in
        try proxyLogin(hasProxy: proxy != nil || source.hasError(at: path(to: "proxy")))
      })
  }

  private func proxyLogin(hasProxy: Bool) throws(ConfigurationError) -> Access.ProxyLogin? {
    let user = try scalar("proxy_user")
    let passwordFile = try file("proxy_password_file")
    guard let user else {
      guard passwordFile == nil else {
        throw missing("proxy_user", "is missing: proxy_password_file holds the password of a user")
      }
      return nil
    }
    guard hasProxy else { throw user.refused("must stand beside a proxy, and there is none") }
    guard let passwordFile else {
      throw missing("proxy_password_file", "is missing: a file with the password of proxy_user")
    }
    do { try AppFieldRule.checkProxyUser(user.text) } catch { throw user.refused(error.message) }
    return Access.ProxyLogin(user: user.text, passwordFile: passwordFile)
  }
}
