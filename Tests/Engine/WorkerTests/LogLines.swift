import Logging
import Synchronization

/// What a part has logged.
final class LogLines: Sendable {
  private let lines = Mutex<[(text: String, metadata: Logger.Metadata)]>([])

  /// Each as its level, a colon and its message.
  var all: [String] { lines.withLock { $0.map(\.text) } }

  var logger: Logger {
    var logger = Logger(label: "pushpool.test") { _ in Handler(lines: self) }
    logger.logLevel = .info
    return logger
  }

  /// Whether a line of this level has these words in it.
  /// - Parameter details: metadata that it has besides.
  func has(_ level: Logger.Level, _ words: String, _ details: [String: String] = [:]) -> Bool {
    lines.withLock { lines in
      lines.contains { text, metadata in
        text.hasPrefix("\(level):") && text.contains(words)
          && details.allSatisfy { metadata[$0.key] == "\($0.value)" }
      }
    }
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
      lines.lines.withLock {
        $0.append(("\(event.level): \(event.message)", event.metadata ?? [:]))
      }
    }
  }
}
