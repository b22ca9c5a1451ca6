internal import Model

/// `host`, `host:port`, `[::1]` or `[::1]:port`.
package struct HostAndPort: Sendable, Equatable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  package var description: String { Self.text(host, port) }

  init?(_ text: Substring, defaultPort: UInt16) {
    let host: Substring
    let rest: Substring
    if text.hasPrefix("[") {
      guard let close = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<close]
      rest = text[text.index(after: close)...]
      guard TextRule.isWord(String(host), others: ":.%") else { return nil }
    } else {
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      host = text[..<colon]
      rest = text[colon...]
      guard TextRule.isWord(String(host), others: ".-_") else { return nil }
    }
    guard (1...253).contains(host.utf8.count) else { return nil }
    self.host = String(host)
    if rest.isEmpty {
      port = defaultPort
    } else {
      guard rest.hasPrefix(":"), rest.dropFirst().utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        let port = UInt16(rest.dropFirst()), port > 0
      else { return nil }
      self.port = port
    }
  }

  /// An address to listen at: with a port, which may be 0 for one that the system chooses.
  package init?(listening text: String) {
    if text.hasSuffix(":0"), let host = HostAndPort(text.dropLast(2), defaultPort: 1),
      host.description == "\(text.dropLast(2)):1"
    {
      self.init(host: host.host, port: 0)
    } else {
      // Two defaults: a text without a port comes out differently.
      guard let one = HostAndPort(text[...], defaultPort: 1),
        let other = HostAndPort(text[...], defaultPort: 2), one == other
      else { return nil }
      self = one
    }
  }

  /// One or more of them with commas between them, each once; nil for anything else.
  static func list(_ text: Substring, defaultPort: UInt16) -> [HostAndPort]? {
    var list: [HostAndPort] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard list.count < ConfigurationLimits.redisHostsMax,
        let host = HostAndPort(part, defaultPort: defaultPort), !list.contains(host)
      else { return nil }
      list.append(host)
    }
    return list
  }

  static func text(_ host: String, _ port: UInt16) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
