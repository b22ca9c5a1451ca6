internal import Glibc
internal import Logging
internal import Typesetting

/// Log lines for a person at a terminal: `09:30:00.250 warning  the sentence  name=value`.
struct HumanLogHandler: LogHandler {
  let label: String
  let terminal: Terminal
  /// The level of this logger alone; nil for the process's.
  var ownLevel: Logger.Level?
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  var logLevel: Logger.Level {
    get { ownLevel ?? LogThreshold.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    LogSink.write(line(of: event, atMs: InstantText.nowMs()))
  }

  func line(of event: LogEvent, atMs: Int64) -> String {
    let time = InstantText.rfc3339(ms: atMs).dropFirst(11).dropLast()
    let level = event.level.rawValue
    let padded = level + String(repeating: " ", count: max(0, 8 - level.count))
    var text =
      "\(TextStyle.dim.apply(String(time), on: terminal)) \(coloured(padded, event.level)) "
      + DisplayText.printable(event.message.description)
    for (name, value) in LogFields.merged(self, event) {
      let field = "\(name)=\(DisplayText.printable(value.description))"
      text += "  " + TextStyle.dim.apply(field, on: terminal)
    }
    return text
  }

  private func coloured(_ text: String, _ level: Logger.Level) -> String {
    switch level {
    case .critical, .error: TextStyle.red.apply(text, on: terminal)
    case .warning: TextStyle.yellow.apply(text, on: terminal)
    case .trace, .debug: TextStyle.dim.apply(text, on: terminal)
    case .info, .notice: text
    }
  }
}
