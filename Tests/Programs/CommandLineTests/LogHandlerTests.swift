import Logging
import Model
import Testing

@testable import CommandLineInterface
@testable import ProgramSetup

@Suite struct LogHandlerTests {
  private func event(_ message: String, _ metadata: Logger.Metadata) -> LogEvent {
    LogEvent(
      level: .warning, message: "\(message)", metadata: metadata, source: "Worker", file: "f",
      function: "g", line: 1)
  }

  @Test("a JSON line is one object with the metadata beside the message")
  func json() throws {
    var handler = JSONLogHandler(label: "pushpool")
    handler[metadataKey: "lane"] = "0"
    let line = handler.line(
      of: event("a \"quoted\"\nline", ["count": .stringConvertible(7), "level": "fake"]), atMs: 0)
    #expect(!line.contains("\n"))
    let object = try #require(JSONParser().parse(line).objectValue)
    #expect(object["time"]?.stringValue == "1970-01-01T00:00:00.000Z")
    #expect(object["level"]?.stringValue == "warning")
    #expect(object["message"]?.stringValue == "a \"quoted\"\nline")
    #expect(object["lane"]?.stringValue == "0")
    #expect(object["count"]?.int64Value == 7)
  }

  @Test("a line for people cannot be forged by what it quotes")
  func human() {
    let handler = HumanLogHandler(label: "pushpool", terminal: Terminal(isInteractive: false))
    let line = handler.line(of: event("one\ntwo\u{1B}[2J", ["job": "a\nb"]), atMs: 250)
    #expect(line.hasPrefix("00:00:00.250 warning "))
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 })
    #expect(line.contains("job=a"))
  }
}
