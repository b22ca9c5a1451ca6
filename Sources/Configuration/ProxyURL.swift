package import Model

/// An HTTP proxy that requests go through: `http://host:port`.
package struct ProxyURL: Sendable, Equatable, CustomStringConvertible {
  package static let defaultPort: UInt16 = 3128

  package let host: String
  package let port: UInt16

  /// The error's pointer is empty.
  package init(_ text: String) throws(InvalidField) {
    let scheme = "http://"
    guard text.lowercased().hasPrefix(scheme) else {
      throw InvalidField(pointer: "", message: "must begin with http://")
    }
    var rest = text.dropFirst(scheme.count)
    guard !rest.contains("@") else {
      throw InvalidField(
        pointer: "", message: "must not hold a user or password: secrets are files")
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard let server = HostAndPort(rest, defaultPort: Self.defaultPort) else {
      throw InvalidField(
        pointer: "", message: "must be http://host:port, with a port from 1 to 65535")
    }
    host = server.host
    port = server.port
  }

  package var description: String { "http://\(HostAndPort.text(host, port))" }
}
