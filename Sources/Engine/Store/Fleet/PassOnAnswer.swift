/// Redis's answer about a job whose app a worker does not have.
package enum PassOnAnswer: String, Sendable {
  case ok = "OK"
  /// The job belongs to another worker.
  case stale = "STALE"
  /// No worker has the app, and the jobs of too many such apps wait already.
  case full = "FULL"
}
