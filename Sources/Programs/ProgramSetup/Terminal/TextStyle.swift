internal import Typesetting

/// Emphasis on a terminal that has it.
package enum TextStyle: String, CaseIterable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case yellow = "33"

  /// The text between the escapes of ECMA-48, or as it is.
  package func apply(_ text: String, on terminal: Terminal) -> String {
    terminal.hasColour && !text.isEmpty ? begin + text + Self.end : text
  }

  private var begin: String { "\u{1B}[\(rawValue)m" }
  private static let end = "\u{1B}[0m"

  /// A line as this terminal may get it: of what moves a cursor or recolours a screen only the escapes of these styles.
  package static func printable(_ line: String, on terminal: Terminal) -> String {
    guard terminal.hasColour, line.utf8.contains(0x1B) else { return DisplayText.printable(line) }
    var result = ""
    var rest = line[...]
    while let escape = rest.firstIndex(of: "\u{1B}") {
      result += DisplayText.printable(String(rest[..<escape]))
      let own = (allCases.map(\.begin) + [end]).first { rest[escape...].hasPrefix($0) }
      result += own ?? DisplayText.printable("\u{1B}")
      rest = rest[rest.index(escape, offsetBy: own?.count ?? 1)...]
    }
    return result + DisplayText.printable(String(rest))
  }
}
