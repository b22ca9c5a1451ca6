package import Model

/// What else than a plain accept could be behind there being no record of a push.
package enum TraceDoubt: Sendable, Equatable {
  /// The job has not ended: so many are pending.
  case unfinished(JobState, pending: Int)
  case switchedOff(KillSwitch)
  /// The job ended so long ago that its trace is gone.
  case old
  case gap(TraceGap)
  /// So many pushes of the job were not accepted and have no record.
  case unexplained(Int)
}
