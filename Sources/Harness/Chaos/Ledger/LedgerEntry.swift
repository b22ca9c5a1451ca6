/// A job that the runner gave to Redis.
struct LedgerEntry: Sendable {
  let number: Int
  let id: String
  let app: String
  let users: Range<Int>
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
