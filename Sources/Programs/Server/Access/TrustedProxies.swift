package import Model

/// The proxies in front of the server that are believed: what they say in `x-forwarded-for`, `x-forwarded-proto` and
/// `x-forwarded-host` counts. Of anybody else these fields are ignored.
package struct TrustedProxies: Sendable {
  private struct Network: Sendable {
    let address: PeerAddress
    let bits: Int
  }

  private var networks: [Network] = []

  package static let none = TrustedProxies()

  private init() {}

  /// - Parameter texts: addresses, or networks such as `10.0.0.0/8`.
  /// - Throws: with the position of the wrong one as the pointer.
  package init(_ texts: [String]) throws(InvalidField) {
    for (index, text) in texts.enumerated() {
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard let address = PeerAddress(parts[0]),
        let bits = parts.count == 2 ? Int(parts[1]) : address.bytes.count * 8,
        (0...address.bytes.count * 8).contains(bits)
      else {
        throw InvalidField(
          pointer: "/\(index)",
          message: "must be an address, or a network such as 10.0.0.0/8")
      }
      networks.append(Network(address: address, bits: bits))
    }
  }

  /// Whether the peer of a request is one of them.
  func contains(_ address: String) -> Bool {
    PeerAddress(address).map { contains($0) } ?? false
  }

  private func contains(_ address: PeerAddress) -> Bool {
    networks.contains { $0.address.shares($0.bits, with: address) }
  }

  /// The address of the client: the last one in `x-forwarded-for` that is no proxy's.
  package func client(of head: RequestHead) -> String {
    guard contains(head.address), let field = head.headers["x-forwarded-for"] else {
      return head.address
    }
    var client = head.address
    for entry in field.split(separator: ",").reversed().prefix(ServerLimits.forwardedMax) {
      // Whatever stands in front of a text that is no address may be made up.
      guard let text = Self.address(entry), let address = PeerAddress(text) else { return client }
      client = text
      if !contains(address) { return client }
    }
    return client
  }

  /// Whether the client came by HTTPS to a proxy that says so.
  package func isSecure(_ head: RequestHead) -> Bool {
    contains(head.address) && Self.lastWord(head.headers["x-forwarded-proto"]) == "https"
  }

  /// The name by which the client calls the server.
  func host(of head: RequestHead) -> String? {
    if contains(head.address), let host = Self.lastWord(head.headers["x-forwarded-host"]) {
      return host
    }
    return head.headers["host"]
  }

  /// The word that the nearest proxy has added, in lower case. Those before it may be the client's own.
  private static func lastWord(_ field: String?) -> String? {
    field?.split(separator: ",", omittingEmptySubsequences: false).last?
      .filter { $0 != " " && $0 != "\t" }.lowercased()
  }

  /// An entry without spaces and without a port.
  private static func address(_ entry: Substring) -> String? {
    let text = entry.filter { $0 != " " && $0 != "\t" }
    if text.hasPrefix("[") {
      return text.firstIndex(of: "]").map { String(text[text.index(after: text.startIndex)..<$0]) }
    }
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    return colons == 1 ? text.split(separator: ":").first.map(String.init) : text
  }
}
