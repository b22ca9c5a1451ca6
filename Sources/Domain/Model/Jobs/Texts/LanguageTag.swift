/// A language as BCP 47 writes it: subtags such as `zh-Hant-TW`, whose case means nothing.
package struct LanguageTag: Sendable, Equatable {
  /// The tag as it was given.
  package let text: String
  /// The form by which languages are compared: lowercase, with `-` between the subtags.
  package let key: String

  /// Nil when the text is no tag. Android's `zh_TW` is taken as well.
  package init?(_ text: String) {
    let subtags = Self.subtags(text)
    guard text.utf8.count <= Limits.languageBytesMax, let language = subtags.first,
      (2...8).contains(language.utf8.count), !language.utf8.contains(where: { $0 < 0x3A }),
      subtags.allSatisfy({ (1...8).contains($0.utf8.count) && TextRule.isWord($0, others: "") })
    else { return nil }
    self.text = text
    key = subtags.joined(separator: "-")
  }

  /// The best of what there is for a device of this language: as it stands, then without its last subtags one after the
  /// other (RFC 4647, 3.4). A text for `zh` is for every Chinese that has none of its own.
  /// - Parameter texts: what there is, by `key`.
  package static func lookUp<Value>(_ language: String, in texts: [String: Value]) -> Value? {
    var subtags = subtags(language)
    while !subtags.isEmpty {
      if let found = texts[subtags.joined(separator: "-")] { return found }
      subtags.removeLast()
      // What only begins an extension says nothing alone.
      if subtags.last?.utf8.count == 1 { subtags.removeLast() }
    }
    return nil
  }

  /// Whether a device's language is this one or a narrower one (RFC 4647, 3.3.1): `zh` covers zh-Hant-TW, and not zha.
  func covers(_ language: UnsafeRawBufferPointer) -> Bool {
    func folded(_ byte: UInt8) -> UInt8 {
      switch byte {
      case UInt8(ascii: "_"): UInt8(ascii: "-")
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
      default: byte
      }
    }
    let length = key.utf8.count
    guard language.count >= length,
      zip(key.utf8, language).allSatisfy({ $0 == folded($1) })
    else { return false }
    return language.count == length || folded(language[length]) == UInt8(ascii: "-")
  }

  private static func subtags(_ text: String) -> [String] {
    text.lowercased().split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
      .map(String.init)
  }

  package static func == (one: LanguageTag, other: LanguageTag) -> Bool { one.key == other.key }
}
