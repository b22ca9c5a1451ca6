internal import Logging
internal import Reactor
internal import Redis
internal import Store

extension Lane {
  /// Compares open jobs with what Redis has of them, a few at a time, and repairs what a deleted stream
  /// or a foreign hand has lost. A repair is an alarm: nothing of ours should need it.
  func audit() async {
    let bell = makeBell()
    var tour = OpenJobsTour(jobs: store.jobs)
    while !isDraining {
      // Not all workers of a fleet at the same moment.
      await bell.wait(upToMs: WorkerLimits.auditMs / 2 + .random(in: 0...WorkerLimits.auditMs))
      guard !isDraining else { return }
      do throws(RedisError) {
        try await store.metrics.sweepConsumers(idleMs: WorkerLimits.consumerIdleMs)
        await sweepLibraries()
        for job in try await tour.next(WorkerLimits.auditsMax) where !isDraining {
          let answer = try await store.jobs.audit(app: job.app, id: job.id)
          guard answer == .repaired else { continue }
          log.error(
            "a job had lost chunks in Redis: they are queued again",
            metadata: ["app": "\(job.app)", "job": "\(job.id)"])
        }
      } catch { log.debug("audit: \(error)") }
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
