import Logging
import Testing

@testable import CommandLineInterface
@testable import ProgramSetup

@Suite struct LogThresholdTests {
  @Test("loggers that were made before go by a level that is set later, unless they have their own")
  func changesForAll() {
    var own = JSONLogHandler(label: "pushpool")
    own.logLevel = .error
    let handlers: [any LogHandler] = [
      JSONLogHandler(label: "pushpool"),
      HumanLogHandler(label: "pushpool", terminal: Terminal(isInteractive: false)),
    ]
    let before = LogThreshold.level
    defer { LogThreshold.level = before }
    for level in [Logger.Level.debug, .warning, .info] {
      LogThreshold.level = level
      #expect(handlers.allSatisfy { $0.logLevel == level } && own.logLevel == .error)
    }
  }
}
