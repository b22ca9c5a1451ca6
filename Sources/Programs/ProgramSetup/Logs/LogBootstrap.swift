internal import Glibc
internal import Logging
package import PushpoolConfiguration
package import Reactor
internal import Typesetting

/// Chooses how this process logs; once, before the first logger is made.
package enum LogBootstrap {
  /// To standard error: for a person on a terminal, as JSON elsewhere, unless the configuration says otherwise.
  package static func start(_ log: LogConfiguration) throws(SystemError) {
    let terminal = Terminal(descriptor: STDERR_FILENO)
    let isHuman =
      switch log.format {
      case .auto: terminal.isInteractive
      case .human: true
      case .json: false
      }
    try LogSink.start { dropped in
      let event = dropEvent(dropped)
      let nowMs = InstantText.nowMs()
      if isHuman {
        return HumanLogHandler(label: "pushpool", terminal: terminal).line(of: event, atMs: nowMs)
      }
      return JSONLogHandler(label: "pushpool").line(of: event, atMs: nowMs)
    }
    use(log.level)
    LoggingSystem.bootstrap { label in
      if isHuman { return HumanLogHandler(label: label, terminal: terminal) }
      return JSONLogHandler(label: label)
    }
  }

  /// Logs this level and those above it from now on.
  package static func use(_ level: LogConfiguration.Level) {
    LogThreshold.level = Logger.Level(rawValue: level.rawValue) ?? .info
  }

  private static func dropEvent(_ dropped: Int) -> LogEvent {
    LogEvent(
      level: .warning, message: "lines of this log were dropped because nobody read it in time",
      metadata: ["dropped": .stringConvertible(dropped)], source: "pushpool", file: #fileID,
      function: #function, line: #line)
  }
}
