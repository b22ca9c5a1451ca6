internal import Model
internal import Store

/// A job that was added to its stream.
struct EnqueuedJob: Sendable {
  let app: String
  let id: String
  let priority: Priority
  /// The stream entry.
  let entry: String
  /// What was added, to know a dead letter by.
  let text: [UInt8]

  /// What the record of this admission names as its source; another source is an earlier job of the same id.
  var source: String { JobSource.of(entry, priority) }

  /// When the entry was added, by the server's clock: the first half of its id.
  var addedAtMs: String { String(entry.prefix { $0 != "-" }) }
}
