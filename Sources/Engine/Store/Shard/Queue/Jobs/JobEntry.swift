package import Model

/// A job as a producer added it, leased to a consumer.
package struct JobEntry: Sendable, Equatable {
  package let priority: Priority
  /// The stream entry; with the priority it names the lease.
  package let entry: String
  /// The JSON text, unchecked.
  package let text: [UInt8]
  /// 1 when nobody had it before.
  package let deliveries: Int

  /// Names this admission of a job.
  package let source: String

  /// When it was enqueued, in epoch milliseconds, by the time in its id; nil when the producer chose an id
  /// that cannot be one.
  package func enqueuedAtMs(nowMs: Int64) -> Int64? { JobSource.enqueuedAtMs(entry, nowMs: nowMs) }

  package init(priority: Priority, entry: String, text: [UInt8], deliveries: Int = 1) {
    self.priority = priority
    self.entry = entry
    self.text = text
    self.deliveries = deliveries
    source = JobSource.of(entry, priority)
  }
}
