internal import Logging

/// The metadata of one log line.
enum LogFields {
  /// The logger's own, the provider's and the event's, the later before the earlier, by name.
  static func merged(
    _ handler: some LogHandler, _ event: LogEvent
  ) -> [(String, Logger.MetadataValue)] {
    var fields = handler.metadata
    if let provided = handler.metadataProvider?.get() {
      fields.merge(provided) { _, new in new }
    }
    if let own = event.metadata { fields.merge(own) { _, new in new } }
    if let error = event.error, fields["error"] == nil { fields["error"] = "\(error)" }
    return fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
