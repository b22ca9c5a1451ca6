import Synchronization

/// The pushes that were enqueued, which the accept log has to show.
final class Ledger: Sendable {
  private let content = Mutex<[LedgerEntry]>([])

  /// Opens an entry before its job is sent.
  func open(app: String, users: Range<Int>, isNamedByUser: Bool = false) -> LedgerEntry {
    content.withLock { entries in
      let entry = LedgerEntry(
        number: entries.count, id: "job-\(entries.count)", app: app, users: users,
        isNamedByUser: isNamedByUser)
      entries.append(entry)
      return entry
    }
  }

  func change(_ number: Int, _ body: (inout LedgerEntry) -> Void) {
    content.withLock { body(&$0[number]) }
  }

  func acknowledge(_ number: Int) { change(number) { $0.isAcknowledged = true } }

  var entries: [LedgerEntry] { content.withLock { $0 } }

  /// The pushes that Redis acknowledged.
  var pushes: Int {
    content.withLock { $0.reduce(0) { $0 + ($1.isAcknowledged ? $1.users.count : 0) } }
  }
}

/// A job that the runner gave to Redis.
struct LedgerEntry: Sendable {
  let number: Int
  let id: String
  let app: String
  let users: Range<Int>
  /// Whether the accept log tells whom its pushes went to and no job, as of FCM. Such users get one job of all.
  var isNamedByUser = false
  /// Whether Redis said that it has it.
  var isAcknowledged = false
  /// When a cancellation or pause was answered, in epoch milliseconds; nil while it may be sent.
  var stoppedAtMs: Int64?
  /// When a resumption was asked for.
  var resumedAtMs: Int64?

  /// The topic of its pushes, by which the accept log names it.
  var topic: String { Self.topicStart + String(number) }

  static let topicStart = "com.example.j"
}
