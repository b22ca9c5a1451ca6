import Logging
import Synchronization

/// What a part has logged.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  /// Each as its level, a colon and its message.
  var all: [String] { lines.withLock { $0 } }

  var logger: Logger {
    var logger = Logger(label: "pushpool.test") { _ in Handler(lines: self) }
    logger.logLevel = .info
    return logger
  }

  /// Whether a line of this level has these words in it.
  func has(_ level: Logger.Level, _ words: String) -> Bool {
    all.contains { $0.hasPrefix("\(level):") && $0.contains(words) }
  }

  private struct Handler: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append("\(event.level): \(event.message)") }
    }
  }
}
