package import Model

/// How an open job stands: its state, and how much of it is left.
package struct JobStanding: Sendable, Equatable {
  package let app: String
  package let id: String
  package let state: JobState
  package let priority: Priority
  /// Installations that have not ended; users whose devices were not read yet count as one.
  package let pending: Int
  /// The local time that it waits for, epoch milliseconds; nil for a job that is sent to everybody at once.
  package let roundAtMs: Int64?

  /// The fields of the record that are read, in this order.
  static let fields = ["state", "priority", "pending", "round_at"]

  /// Nil for what is no record.
  init?(app: String, id: String, _ values: [String?]) {
    guard values.count == Self.fields.count,
      let state = values[0].flatMap({ JobState(rawValue: $0) })
    else { return nil }
    self.app = app
    self.id = id
    self.state = state
    priority = values[1].flatMap { Priority(rawValue: $0) } ?? .normal
    pending = max(0, StoredNumber.count(values[2].flatMap { Int($0) } ?? 0))
    roundAtMs = values[3].flatMap { Int64($0) }.map { StoredNumber.instantMs($0) }
  }

  /// Whether it has something to send at an instant, epoch milliseconds.
  package func isSending(atMs nowMs: Int64) -> Bool {
    state == .running && (roundAtMs ?? 0) <= nowMs
  }
}
