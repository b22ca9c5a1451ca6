package import Model
package import Store

/// How often the same thing happened to pushes of a job, and when.
package struct TraceTally: Sendable {
  /// The properties that make events count as the same.
  package struct Sort: Sendable, Hashable {
    package var network: Network?
    package var kind: TraceKind
    package var status: Int
    package var reason: String
    package var decision: TraceDecision?
    package var cause: TraceCause?

    init(_ event: TraceEvent) {
      network = event.network
      kind = event.kind
      status = event.status
      reason = event.reason
      decision = event.decision
      cause = event.cause
    }
  }

  package private(set) var count = 0
  /// Epoch milliseconds, as the next.
  package private(set) var firstMs = Int64.max
  package private(set) var lastMs = Int64.min

  mutating func add(_ event: TraceEvent) {
    count += event.count
    firstMs = min(firstMs, event.atMs)
    lastMs = max(lastMs, event.atMs)
  }
}
