internal import Model
internal import Reactor
internal import Store

/// A job that a lane sends from its entry, until it has ended or is a chunk. A value, for each job to one user has one: what it
/// consists of is there already.
struct DirectRun {
  let run: PushRun
  let job: DirectJob
  /// Since when it is sent, in epoch milliseconds by Redis's clock.
  let begunAtMs: Int64
  /// Since when it is sent, in the loop's time.
  private let begunNs: UInt64

  init(_ run: PushRun, _ job: DirectJob, begunAtMs: Int64) {
    self.run = run
    self.job = job
    self.begunAtMs = begunAtMs
    begunNs = run.loop.nowNs
  }

  var slot: Int { run.slot }
  var priority: Priority { run.claim.priority }

  /// Since when it is in hand.
  var ageMs: UInt64 { (run.loop.nowNs &- begunNs) / 1_000_000 }

  /// Whether it should not be sent from its entry for longer.
  var isOverdue: Bool {
    !run.isFinished
      && (run.standing != .active || run.hasNews || run.hasStaleBindings
        || ageMs >= WorkerLimits.directMsMax)
  }

  /// Whether there is nothing to do for it but to wait for its answers, or to end it.
  var isQuiet: Bool {
    run.standing != .stale
      && (run.isFinished || run.isResolved && run.standing == .active && !run.hasStaleBindings)
  }
}
