/// Host and port of a push network, or of what `endpoint:` names in its place.
package struct ServiceAddress: Sendable, Hashable {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  /// The authority as in a URL; the default port of https is left out.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}
