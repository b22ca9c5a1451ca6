/// The end of a direct job, as it is told to Redis. A class, for it goes through many hands.
package final class DirectEnding: Sendable {
  package let job: DirectJob
  /// Since when it was sent, in epoch milliseconds by Redis's clock.
  package let startedAtMs: Int64
  /// Final, and `isPlain`.
  package let settlement: Settlement

  package init(job: DirectJob, startedAtMs: Int64, settlement: Settlement) {
    self.job = job
    self.startedAtMs = startedAtMs
    self.settlement = settlement
  }
}
