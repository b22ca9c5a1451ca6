/// A proxy that connections are tunnelled through.
package struct ProxyServer: Sendable, Hashable {
  /// How it is asked for a tunnel; the name is the scheme of its URL.
  package enum Way: String, Sendable {
    /// By CONNECT (RFC 9110, 9.3.6).
    case http
    /// By SOCKS5 (RFC 1928), to an address that is looked up here.
    case socks5
    /// By SOCKS5, to a name that the proxy looks up.
    case socks5h
  }

  package let way: Way
  package let endpoint: Endpoint
  /// Whom it knows us as; nil where it takes everybody.
  package let login: Login?

  package struct Login: Sendable, Hashable {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  package init(_ way: Way, host: String, port: UInt16, login: Login? = nil) {
    self.way = way
    endpoint = .tcp(host: host, port: port)
    self.login = login
  }

  /// The URL without the login, for instance `socks5h://127.0.0.1:1080`.
  package var url: String { "\(way.rawValue)://\(endpoint)" }
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
