/// A place in a text that is filled in for each user: `{{name}}` or `{{name | default: "there"}}`.
package struct Placeholder: Sendable, Hashable {
  package let name: String
  /// What stands there for a user without a value; without one the push is rejected.
  package let fallback: String?
  /// Whether it is part of a URL, where its value is percent-encoded.
  package let isInURL: Bool

  package init(name: String, fallback: String? = nil, isInURL: Bool = false) {
    self.name = name
    self.fallback = fallback
    self.isInURL = isInURL
  }

  /// What stands in the text for a value: in a URL all but the unreserved characters is escaped (RFC 3986, 2.3).
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

  /// What stands for the placeholder of this number in a text that is rendered: a noncharacter, which no text holds
  /// (Unicode 23.7), and a number.
  package static func mark(_ number: Int) -> String {
    String(String.UnicodeScalarView([noncharacter, Unicode.Scalar(UInt32(0xE000 + number))!]))
  }

  static let noncharacter = Unicode.Scalar(0xFDD0 as UInt32)!
  /// The UTF-8 of a mark without its last byte, which is 0x80 and the number.
  private static let markStart: [UInt8] = [0xEF, 0xB7, 0x90, 0xEE, 0x80]

  /// Cuts rendered bytes at the marks.
  /// - Returns: the bytes before each mark with its placeholder's number, and those after the last.
  package static func cut(
    _ bytes: [UInt8]
  ) -> (parts: [(before: ArraySlice<UInt8>, number: Int)], rest: ArraySlice<UInt8>) {
    var parts: [(before: ArraySlice<UInt8>, number: Int)] = []
    var start = 0
    var position = 0
    while position + markStart.count < bytes.count {
      guard bytes[position] == markStart[0],
        bytes[position..<(position + markStart.count)].elementsEqual(markStart)
      else {
        position += 1
        continue
      }
      let end = position + markStart.count
      parts.append((bytes[start..<position], Int(bytes[end]) - 0x80))
      start = end + 1
      position = start
    }
    return (parts, bytes[start...])
  }
}
