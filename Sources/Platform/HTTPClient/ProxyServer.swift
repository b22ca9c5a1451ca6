/// A proxy that requests go through.
package struct ProxyServer: Sendable, Hashable {
  /// `http://host:port`, `socks5://host:port`, or `socks5h://host:port` where it resolves names itself.
  package let url: String
  package let login: Login?

  package struct Login: Sendable, Hashable {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  package init(url: String, login: Login? = nil) {
    self.url = url
    self.login = login
  }
}

extension ProxyServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the login.
  package var description: String { url }
  package var debugDescription: String { url }
  package var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension ProxyServer.Login: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
