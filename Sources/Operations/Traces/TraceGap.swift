/// A number of events that are missing from a trace.
package struct TraceGap: Sendable, Equatable {
  package enum Reason: Sendable, CaseIterable {
    /// The events were recorded, and made room for others.
    case trimmed
    /// Redis was away or slow.
    case lost
    /// There were too many alike.
    case omitted
    /// A newer version recorded them.
    case unreadable
  }

  package let reason: Reason
  /// At least 1.
  package let count: Int

  package init(reason: Reason, count: Int) {
    self.reason = reason
    self.count = count
  }
}
