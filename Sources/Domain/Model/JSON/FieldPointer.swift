/// Builds the pointers and quotes of error messages from text that a producer controls.
package enum FieldPointer {
  /// RFC 6901: `~` and `/` in a name are written `~0` and `~1`.
  package static func child(_ name: String, of parent: String) -> String {
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

  /// `name` cut to a bounded length, without control characters: safe in a log line.
  package static func printable(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      if text.utf8.count >= Limits.quotedTextBytesMax { return text + "…" }
      text.unicodeScalars.append(TextRule.isControl(scalar) ? "\u{FFFD}" : scalar)
    }
    return text
  }
}
