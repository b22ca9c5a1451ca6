/// Host and port of a push network, or of what `endpoint:` names in its place.
package struct ServiceAddress: Sendable, Hashable {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `https://host`, `https://host:port` or `host:port`; nil when it is anything else.
  package init?(_ text: String) {
    var rest = Substring(text)
    if rest.hasPrefix("https://") { rest = rest.dropFirst("https://".count) }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var port: UInt16 = 443
    var host = rest
    let afterBracket = rest.lastIndex(of: "]") ?? rest.startIndex
    if let colon = rest[afterBracket...].lastIndex(of: ":") {
      guard let number = UInt16(rest[rest.index(after: colon)...]), number > 0 else { return nil }
      port = number
      host = rest[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    let isHost = host.utf8.allSatisfy {
      ServiceAddress.isHostByte($0) || (afterBracket > rest.startIndex && $0 == UInt8(ascii: ":"))
    }
    guard !host.isEmpty, host.utf8.count <= 253, isHost else { return nil }
    self.init(host: String(host), port: port)
  }

  /// As in a URL; the default port of https is left out.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
