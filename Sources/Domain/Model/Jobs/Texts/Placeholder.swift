/// A place in a text that is filled in for each user: `{{name}}` or `{{name | default: "there"}}`.
package struct Placeholder: Sendable, Hashable {
  package let name: String
  /// The text for a user without a value; without one the push is rejected.
  package let fallback: String?
  /// Whether it is part of a URL, where its value is percent-encoded.
  package let isInURL: Bool

  package init(name: String, fallback: String? = nil, isInURL: Bool = false) {
    self.name = name
    self.fallback = fallback
    self.isInURL = isInURL
  }

  /// Returns the text that stands for a value: in a URL all but the unreserved characters is escaped (RFC 3986, 2.3).
  package func written(_ value: String) -> String {
    guard isInURL else { return value }
    var text = ""
    for byte in value.utf8 {
      if TextRule.isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }
}
