/// Builds the pointers and quotes of error messages from text that a producer controls.
package enum FieldPointer {
  /// RFC 6901: `~` and `/` in a name are written `~0` and `~1`.
  package static func child(_ name: String, of parent: String) -> String {
    // Nearly all pointers are made for complaints that never come.
    if isPlain(name) { return "\(parent)/\(name)" }
    var text = parent + "/"
    for scalar in printable(name).unicodeScalars {
      switch scalar {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  package static func element(_ index: Int, of parent: String) -> String { "\(parent)/\(index)" }

  /// Whether a pointer has the name as it is.
  private static func isPlain(_ name: String) -> Bool {
    TextRule.withBytes(name) { bytes in
      bytes.count < Limits.quotedTextBytesMax
        && bytes.allSatisfy {
          $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "~") && $0 != UInt8(ascii: "/")
        }
    }
  }

  /// `name` cut to a bounded length, without control characters: safe in a log line.
  package static func printable(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      if text.utf8.count >= Limits.quotedTextBytesMax { return text + "…" }
      text.unicodeScalars.append(TextRule.isUnsafeToShow(scalar) ? "\u{FFFD}" : scalar)
    }
    return text
  }
}
