internal import Logging
internal import Redis
internal import Store

/// Clears away what workers and versions left behind that are gone, compares open jobs with what Redis has of them, a few
/// at a time, and repairs what a deleted stream or a foreign hand has lost.
final class Janitor: Agent {
  private let store: ShardStore
  private let life: LaneLife
  private let log: Logger
  private var openJobs: OpenJobScan

  init(store: ShardStore, life: LaneLife, log: Logger) {
    self.store = store
    self.life = life
    self.log = log
    openJobs = OpenJobScan(jobs: store.jobs)
  }

  /// How long until a turn: not all workers of a fleet take theirs at the same moment.
  static func pauseMs() -> UInt64 {
    WorkerLimits.reconcileMs / 2 + .random(in: 0...WorkerLimits.reconcileMs)
  }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      try await store.workers.sweepConsumers(idleMs: WorkerLimits.consumerIdleMs)
      await sweepLibraries()
      try await mendBindings()
      for job in try await openJobs.next(WorkerLimits.reconciledJobsMax) where !life.isDraining {
        try await reconcile(app: job.app, id: job.id)
      }
    } catch { log.debug("reconcile: \(error)") }
    return Self.pauseMs()
  }

  /// A repair is an alarm: nothing of ours should need it.
  private func reconcile(app: String, id: String) async throws(RedisError) {
    guard try await store.jobs.reconcile(app: app, id: id) == .repaired else { return }
    log.error(
      "a job had lost chunks in Redis: they are queued again",
      metadata: ["app": "\(app)", "job": "\(id)"])
  }

  /// Goes on with the walk over bindings where other workers have left it, a few slices a turn.
  private func mendBindings() async throws(RedisError) {
    for _ in 0..<WorkerLimits.mendedSlicesMax where !life.isDraining {
      let (mended, rests) = try await store.installations.mendNext()
      if mended > 0 {
        log.error(
          "bindings were half there in Redis and were mended: look for what deletes keys",
          metadata: ["bindings": "\(mended)"])
      }
      if rests { return }
    }
  }

  /// An ACL may forbid to list or delete functions: what is left behind then is no trouble of the work.
  private func sweepLibraries() async {
    do throws(RedisError) {
      for name in try await store.libraries.sweep() {
        log.info(
          "deleted the functions of a version that no worker uses", metadata: ["library": "\(name)"]
        )
      }
    } catch { log.debug("libraries: \(error)") }
  }
}
