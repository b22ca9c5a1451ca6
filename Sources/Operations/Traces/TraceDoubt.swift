package import Model

/// A reason other than a plain accept why there may be no record of a push.
package enum TraceDoubt: Sendable, Equatable {
  /// The job has not ended: so many are pending.
  case unfinished(JobState, pending: Int)
  case switchedOff(KillSwitch)
  /// The job ended so long ago that its trace is gone.
  case old
  case gap(TraceGap)
  /// How many pushes of the job were not accepted and have no record.
  case unexplained(Int)
}
