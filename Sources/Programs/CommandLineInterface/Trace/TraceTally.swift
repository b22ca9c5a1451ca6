internal import Model
internal import Store

/// How often the same thing happened to pushes of a job, and when.
struct TraceTally: Sendable {
  /// What counts as the same.
  struct Sort: Sendable, Hashable {
    var network: Network?
    var kind: TraceKind
    var status: Int
    var reason: String
    var decision: TraceDecision?
    var cause: TraceCause?

    init(_ event: TraceEvent) {
      network = event.network
      kind = event.kind
      status = event.status
      reason = event.reason
      decision = event.decision
      cause = event.cause
    }
  }

  var count = 0
  /// Epoch milliseconds, as the next.
  var firstMs = Int64.max
  var lastMs = Int64.min

  mutating func add(_ event: TraceEvent) {
    count += event.count
    firstMs = min(firstMs, event.atMs)
    lastMs = max(lastMs, event.atMs)
  }
}
