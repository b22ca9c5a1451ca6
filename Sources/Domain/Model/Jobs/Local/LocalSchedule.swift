/// When a job with `deliver_local` is sent to which time zones. It is made once, as the job is admitted, and stays with the job:
/// so all workers go by the same rules, whatever tzdata each has, and each zone has its time once.
package struct LocalSchedule: Sendable, Equatable {
  /// A start of the job, for the installations of some zones.
  package struct Round: Sendable, Equatable {
    /// Epoch milliseconds.
    package let atMs: Int64
    /// In the order of their names; may be empty, when only installations without a zone receive it then.
    package let zones: [String]
  }

  /// In order of time.
  package let rounds: [Round]
  /// Zones that get nothing, since the time has passed there.
  package let missed: [String]
  /// The round of installations without a zone, or with one that is not known; nil when they get nothing.
  package let roundWithoutZone: Int?
}
