/// A word of a command that a person is to type.
package enum ShellWord {
  /// Returns the word as a POSIX shell takes it for the text, without anything that moves a cursor.
  package static func quoted(_ text: String) -> String {
    let shown = DisplayText.printable(text)
    let isPlain = shown.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._:-+@%,".utf8.contains($0)
      }
    }
    if isPlain, !shown.isEmpty { return shown }
    return "'"
      + shown.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: #"'\''"#) + "'"
  }
}
