/// The form of a network's device tokens. The functions for registration hold tokens to the same rule.
package struct TokenRule: Sendable {
  /// A rule for the characters of a token.
  package struct Check: Sendable {
    /// The rule in words, as the end of a sentence: "be letters and digits only".
    let words: String
    /// The same for Redis's functions, as a member of a table of Lua: a pattern that is `wanted` or `unwanted`, or `is_even`.
    package let lua: String
    let isKept: @Sendable (String) -> Bool
  }

  /// Whose token it is, in a sentence: "an APNs".
  package let owner: String
  /// Its name at the network: "device token".
  let name: String
  /// How long it can be.
  package let bytes: ClosedRange<Int>
  /// The characters beside ASCII letters and digits that it may hold.
  package let otherCharacters: String
  /// In the order in which a token is held to them.
  package let checks: [Check]
  /// Whether it is stored in lowercase, because its network reads it without case.
  package var isLowercased = false
  /// The checks as a regular expression (ECMA-262), for documents that describe tokens.
  package let pattern: String

  /// The sentence that refuses a token which breaks a rule.
  package func sentence(_ check: Check) -> String { "\(owner) \(name) must \(check.words)" }

  /// Returns a token as it is stored; the error's pointer is `/token`. It does not repeat the token, which is as good as an
  /// address.
  func normalised(_ text: String) throws(InvalidField) -> String {
    let count = text.utf8.count
    guard bytes.contains(count) else {
      throw refused(
        "\(owner) token must be \(bytes.lowerBound) to \(bytes.upperBound) characters, is \(count)")
    }
    for check in checks {
      guard check.isKept(text) else { throw refused(sentence(check)) }
    }
    let isStored =
      !isLowercased
      || !text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    return isStored ? text : text.lowercased()
  }

  private func refused(_ message: String) -> InvalidField {
    InvalidField(pointer: "/token", message: message)
  }
}

extension TokenRule.Check {
  /// ASCII letters, digits and these only.
  static func word(others: StaticString) -> TokenRule.Check {
    let characters = "\(others)".map(String.init)
    let isBare = characters.isEmpty
    return TokenRule.Check(
      words: isBare
        ? "be letters and digits only"
        : "be letters, digits and \(characters.joined(separator: " ")) only",
      // Redis leaves the classes of characters in the locale C: %w is ASCII only.
      lua: "wanted = '^[%w\(characters.map { "%" + $0 }.joined())]+$'"
    ) { TextRule.isWord($0, others: others) }
  }
}
