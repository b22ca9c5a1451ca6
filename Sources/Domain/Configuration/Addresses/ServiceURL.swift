package import Model

/// The address of a provider, a simulator or a private relay: `https://host:port`, with a path where one is asked for.
package struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
  package static let defaultPort: UInt16 = 443

  package let host: String
  package let port: UInt16
  /// Empty, or from the first slash on.
  package let path: String

  /// The error's pointer is empty.
  package init(_ text: String, allowsPath: Bool = false) throws(InvalidField) {
    let scheme = "https://"
    guard text.lowercased().hasPrefix(scheme) else {
      throw InvalidField(pointer: "", message: "must begin with https://")
    }
    let rest = text.dropFirst(scheme.count)
    guard !rest.contains("@") else {
      throw InvalidField(
        pointer: "", message: "must not hold a user or password: secrets are files")
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    guard let server = HostAndPort(rest[..<slash], defaultPort: Self.defaultPort) else {
      throw InvalidField(
        pointer: "", message: "must be https://host:port, with a port from 1 to 65535")
    }
    host = server.host
    port = server.port
    let path = rest[slash...] == "/" ? "" : rest[slash...]
    guard path.isEmpty || allowsPath else {
      throw InvalidField(pointer: "", message: "must be https://host:port without a path")
    }
    guard path.utf8.count <= ConfigurationLimits.pathBytesMax,
      path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw InvalidField(pointer: "", message: "must have a path of printable ASCII only")
    }
    self.path = String(path)
  }

  package var description: String { "https://\(HostAndPort.text(host, port))\(path)" }
}
