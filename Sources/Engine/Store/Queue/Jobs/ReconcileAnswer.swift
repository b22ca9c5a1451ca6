/// The finding of a job's reconciliation.
package enum ReconcileAnswer: String, Sendable {
  case sound = "OK"
  /// Work was missing and is queued again, or the counters were off: somebody or something damaged Redis.
  case repaired = "REPAIRED"
  /// No such job, or it is finished.
  case absent = "ABSENT"
  /// There is too much work in Redis to look through it; try again later.
  case busy = "BUSY"
}
