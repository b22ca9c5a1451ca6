/// Where a stream connects to or a listener listens.
package enum Endpoint: Sendable, Hashable, CustomStringConvertible {
  /// A host name or address, resolved afresh for each connection.
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
