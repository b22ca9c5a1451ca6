package import Model

/// A proxy that requests go through: `http://host:port`, `socks5://host:port`, or `socks5h://host:port`,
/// where the proxy resolves the names.
package struct ProxyURL: Sendable, Equatable, CustomStringConvertible {
  package enum Scheme: String, Sendable, CaseIterable {
    case http
    case socks5
    case socks5h

    package var defaultPort: UInt16 { self == .http ? 3128 : 1080 }
  }

  package let scheme: Scheme
  package let host: String
  package let port: UInt16

  /// The error's pointer is empty.
  package init(_ text: String) throws(InvalidField) {
    guard let scheme = Scheme.allCases.first(where: { text.lowercased().hasPrefix("\($0)://") })
    else {
      throw InvalidField(
        pointer: "", message: "must begin with http://, socks5:// or socks5h://")
    }
    var rest = text.dropFirst("\(scheme)://".count)
    guard !rest.contains("@") else {
      throw InvalidField(
        pointer: "",
        message: "must not hold a user or password: secrets are files, write proxy_user and "
          + "proxy_password_file")
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard let server = HostAndPort(rest, defaultPort: scheme.defaultPort) else {
      throw InvalidField(
        pointer: "", message: "must be \(scheme)://host:port, with a port from 1 to 65535")
    }
    self.scheme = scheme
    host = server.host
    port = server.port
  }

  package var description: String { "\(scheme)://\(HostAndPort.text(host, port))" }
}
