internal import Model

/// A job to few users that is sent from its entry: its lease is the entry's, and nothing of it is in Redis but its name.
/// A class, for it goes through many hands.
package final class DirectJob: Sendable {
  package let entry: JobEntry
  /// By which it is admitted after all, when it lasts or brings more than counts; without the content.
  package let admission: Admission
  /// The job's only chunk, which is no entry of a stream yet.
  package let claim: ChunkClaim

  /// - Parameter admission: of one segment that names its recipients, to be sent at once.
  package init(entry: JobEntry, admission: Admission) {
    self.entry = entry
    self.admission = admission
    claim = ChunkClaim(of: entry, admission, as: "")
  }

  /// Returns its chunk, admitted as this entry.
  package func claim(entry: String) -> ChunkClaim {
    ChunkClaim(of: self.entry, admission, as: entry)
  }
}

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
