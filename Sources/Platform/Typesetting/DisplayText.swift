/// How text stands on a terminal: what it may hold, and how many columns it takes.
package enum DisplayText {
  /// The text without anything that moves a cursor or recolours a screen: much of what is shown here was
  /// written by others.
  package static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
    return String(result)
  }

  /// JSON that shows as it is: what `printable` replaces is written as an escape in its string (RFC 8259, 7), which every reader
  /// takes for the same.
  package static func printable(json: String) -> String {
    // Nearly all is plain: the first bytes of what is not tell.
    guard json.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || mayBegin.contains($0) }) else {
      return json
    }
    var result = String.UnicodeScalarView()
    for scalar in json.unicodeScalars {
      guard isUnsafe(scalar) else {
        result.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
      result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
    }
    return String(result)
  }

  /// The first bytes, in UTF-8, of scalars of which some are unsafe.
  private static let mayBegin: Set<UInt8> = [0xC2, 0xD8, 0xE2]

  /// Columns on a terminal; East Asian wide characters take two.
  package static func columns(_ text: String) -> Int {
    text.reduce(0) { $0 + columns($1) }
  }

  /// At most so many columns, cut with an ellipsis.
  package static func fitted(_ text: String, columns limit: Int) -> String {
    guard columns(text) > limit else { return text }
    var result = ""
    var used = 0
    for character in text {
      let width = columns(character)
      guard used + width < limit else { break }
      result.append(character)
      used += width
    }
    return limit > 0 ? result + "…" : ""
  }

  private static func columns(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default:
      return 1
    }
  }

  /// Controls, ends of lines, and the marks that turn the direction of what follows (Unicode, Bidi_Control). The model has
  /// the same in `TextRule.isUnsafeToShow`.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
