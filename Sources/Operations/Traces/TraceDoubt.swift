package import Model
internal import Typesetting

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

/// A number of events that are missing from a trace.
package struct TraceGap: Sendable, Equatable {
  package enum Reason: Sendable, CaseIterable {
    /// The events were recorded, and made room for others.
    case trimmed
    /// Redis was away or slow.
    case lost
    /// There were too many alike.
    case omitted
    /// A newer version recorded them.
    case unreadable
  }

  package let reason: Reason
  /// At least 1.
  package let count: Int

  package init(reason: Reason, count: Int) {
    self.reason = reason
    self.count = count
  }
}

extension TraceDoubt {
  /// A clause without a full stop.
  package func text(of job: TracedJob) -> String {
    switch self {
    case .unfinished(let state, let pending):
      return
        "the job is \(state.rawValue) with \(FigureText.count(pending)) pending, so it may not "
        + "have been tried yet"
    case .switchedOff(let killSwitch): return "\(killSwitch.words) is switched off"
    case .old: return "the job ended more than 48 hours ago, and what was recorded is gone"
    case .gap(let gap): return gap.text
    case .unexplained(let count):
      let clause =
        job.record.state == .cancelled
        ? "which is what cancelling leaves of chunks that no worker had" : "for whatever reason"
      return "\(FigureText.count(count)) pushes of this job that were not accepted have no record, "
        + clause
    }
  }
}

extension TraceGap {
  /// A clause without a full stop.
  package var text: String {
    let what =
      switch reason {
      case .trimmed: "events were recorded and dropped: a job's trace keeps the last 8 MiB"
      case .lost: "events were not recorded: Redis was away or slow"
      case .omitted: "events were only counted: a lane records only so many alike"
      case .unreadable: "events were recorded by a newer version"
      }
    return "\(FigureText.count(count)) \(what)"
  }
}
