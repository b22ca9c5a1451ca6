internal import Configuration
internal import Glibc
internal import Logging

/// Chooses how this process logs; once, before the first logger is made.
enum LogBootstrap {
  /// To standard error: for a person on a terminal, as JSON elsewhere, unless the configuration says otherwise.
  static func start(_ log: LogConfiguration) {
    let terminal = Terminal(descriptor: STDERR_FILENO)
    let level = Logger.Level(rawValue: log.level.rawValue) ?? .info
    let isHuman =
      switch log.format {
      case .auto: terminal.isInteractive
      case .human: true
      case .json: false
      }
    LoggingSystem.bootstrap { label in
      if isHuman { return HumanLogHandler(label: label, terminal: terminal, logLevel: level) }
      return JSONLogHandler(label: label, logLevel: level)
    }
  }
}
