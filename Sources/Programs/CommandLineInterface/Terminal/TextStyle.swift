/// Emphasis on a terminal that has it.
enum TextStyle: String {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case yellow = "33"

  /// The text between the escapes of ECMA-48, or as it is.
  func apply(_ text: String, on terminal: Terminal) -> String {
    terminal.hasColour && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
  }
}
