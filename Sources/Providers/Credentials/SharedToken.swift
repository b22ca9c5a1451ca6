/// A signed token and its age; a secret, which no log shows.
package struct SharedToken: Sendable, Equatable, CustomStringConvertible {
  package let token: String
  package let issuedAtMs: Int64

  package init(token: String, issuedAtMs: Int64) {
    self.token = token
    self.issuedAtMs = issuedAtMs
  }

  package var description: String { "a provider token issued at \(issuedAtMs)" }

  /// As the fleet keeps it.
  package var text: String { "\(issuedAtMs) \(token)" }

  /// Nil when the text is nothing that `text` wrote.
  package init?(text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let issuedAtMs = Int64(words[0]),
      words[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    self.init(token: String(words[1]), issuedAtMs: issuedAtMs)
  }
}
