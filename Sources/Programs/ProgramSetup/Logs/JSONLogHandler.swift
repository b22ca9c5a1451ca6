internal import Logging
internal import Model
internal import Typesetting

/// Log lines for collectors: one JSON object a line with `time`, `level`, `message`, and the metadata beside
/// them.
struct JSONLogHandler: LogHandler {
  let label: String
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
    var object = JSONObject()
    object["time"] = .string(InstantText.rfc3339(ms: atMs))
    object["level"] = .string(event.level.rawValue)
    object["logger"] = .string(label)
    object["message"] = .string(event.message.description)
    // A field of the same name must not replace one of those above.
    for (name, value) in LogFields.merged(self, event) where object[name] == nil {
      object[name] = Self.json(value)
    }
    return DisplayText.printable(json: JSONValue.object(object).text())
  }

  private static func json(_ value: Logger.MetadataValue) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .stringConvertible(let number as any BinaryInteger):
      Int64(exactly: number).map { .integer($0) } ?? .string("\(number)")
    case .stringConvertible(let other): .string(other.description)
    case .array(let items): .array(items.map(json))
    case .dictionary(let fields): .object(object(fields))
    }
  }

  private static func object(_ fields: Logger.Metadata) -> JSONObject {
    var object = JSONObject()
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { object[name] = json(value) }
    return object
  }
}
