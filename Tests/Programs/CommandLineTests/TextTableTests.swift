import Testing
import Typesetting

@testable import CommandLineInterface
@testable import ProgramSetup

@Suite struct TextTableTests {
  private let paper = Terminal(isInteractive: false)

  @Test("columns line up by what they show, wide characters included")
  func alignment() {
    var table = TextTable([.init("USER"), .init("COUNT", .right), .init("NOTE")])
    table.append(["用户", "7", "a"])
    table.append(["u1", "1,000", "b"])
    #expect(
      table.lines(on: paper) == [
        "USER  COUNT  NOTE",
        "用户      7  a",
        "u1    1,000  b",
      ])
  }

  @Test("an escape sequence in a cell does not reach the terminal")
  func escapes() {
    var table = TextTable([.init("MESSAGE")])
    table.append(["\u{1B}[2Jgone\r\nnext\u{202E}"])
    let text = table.lines(on: paper).joined()
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    #expect(text.contains("gone"))
  }

  @Test("a terminal cuts the last column, a file keeps it whole")
  func lastColumn() {
    var table = TextTable([.init("ID"), .init("MESSAGE")])
    let message = String(repeating: "long ", count: 40)
    table.append(["1", message])
    let screen = Terminal(isInteractive: true, columns: 40)
    #expect(DisplayText.columns(table.lines(on: screen)[1]) <= 40)
    #expect(table.lines(on: paper)[1].count > 190)
  }

  @Test("colour is for terminals that have it only")
  func colour() {
    #expect(TextStyle.bold.apply("x", on: paper) == "x")
    let screen = Terminal(isInteractive: true, hasColour: true)
    #expect(TextStyle.bold.apply("x", on: screen) == "\u{1B}[1mx\u{1B}[0m")
  }

  @Test("NO_COLOR and a dumb terminal are heeded")
  func environment() {
    // A pipe is no terminal whatever the variables say.
    let terminal = Terminal(descriptor: -1, environment: ["TERM": "xterm", "LANG": "de_DE.UTF-8"])
    #expect(!terminal.isInteractive)
    #expect(!terminal.hasColour)
    #expect(terminal.isUnicode)
    #expect(!Terminal(descriptor: -1, environment: ["LC_ALL": "C", "LANG": "en.UTF-8"]).isUnicode)
  }
}
