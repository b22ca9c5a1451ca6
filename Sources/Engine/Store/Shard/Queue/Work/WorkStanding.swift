/// Redis's answer about a chunk or job entry that a worker believes to own.
package enum WorkStanding: String, Sendable {
  case ok = "OK"
  /// Send nothing more of it; settle what is in flight and hand it back.
  case paused = "PAUSED"
  /// Send nothing more of it; settle what is in flight, the rest as skipped.
  case cancelled = "CANCELLED"
  /// The work belongs to somebody else or is gone: stop at once, nothing of it is counted.
  case stale = "STALE"
}
