package import Model
internal import Store

/// A job that was added to its stream.
package struct EnqueuedJob: Sendable {
  package let app: String
  package let id: String
  package let priority: Priority
  /// The stream entry.
  package let entry: String
  /// The text that was added, to know a dead letter by.
  let text: [UInt8]

  /// - Parameter entry: what `JobQueue.enqueue` returned.
  package init(app: String, id: String, priority: Priority, entry: String, text: [UInt8]) {
    self.app = app
    self.id = id
    self.priority = priority
    self.entry = entry
    self.text = text
  }

  /// The source that the record of this admission names; another source is an earlier job of the same id.
  var source: String { JobSource.of(entry, priority) }

  /// When the entry was added, by the server's clock: the first half of its id.
  var addedAtMs: Int64 { Int64(entry.prefix { $0 != "-" }) ?? 0 }
}
