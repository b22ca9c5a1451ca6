import Glibc
import LocalServices
import Stage

/// Jobs that are all there before a warm worker takes the first of them in: what they cost it and Redis, without the producer's
/// commands.
struct Backlog {
  struct Measurement: Sendable {
    /// Accepted within the wall time.
    var pushes: Int
    var wallSeconds: Double
    var workerMicroseconds: Double
    var redisMicroseconds: Double
    /// All commands, those inside functions included.
    var commands: Int
  }

  let stage: BenchStage
  let worker: WorkerProcess

  /// - Parameters:
  ///   - pushes: that the jobs come to.
  ///   - secondsMax: how long their rate is looked at; nil until all are accepted.
  ///   - hurry: called then, so that the rest takes less time.
  func measure(
    _ jobs: [Campaign.Job], pushes: Int, secondsMax: Int? = nil, hurry: () async -> Void = {}
  ) async throws -> Measurement {
    worker.child.signal(SIGSTOP)
    do { for job in jobs { try await stage.session.enqueue(job.bytes) } } catch {
      worker.child.signal(SIGCONT)
      throw error
    }
    let (redis, usage) = (try ProcessUsage(pid: await stage.redis.pid), try worker.usage())
    let commands = try await stage.session.usage().commands
    let acceptedBefore = try await stage.simulator.counters().accepted
    let start = ContinuousClock.now
    worker.child.signal(SIGCONT)
    var accepted = 0
    while true {
      accepted = try await stage.simulator.counters().accepted - acceptedBefore
      let isTimeUp = secondsMax.map { ContinuousClock.now - start >= .seconds($0) } ?? false
      if accepted >= pushes || isTimeUp { break }
      guard ContinuousClock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
        throw BenchError("\(jobs.count) jobs took over \(BenchLimits.campaignMsMax / 1_000) s")
      }
      try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.pollMs))
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await hurry()
    // The last ones that begin need not be the last ones that end.
    try await Campaign(session: stage.session).end(jobs.suffix(BenchLimits.lastJobs))
    let spent = try worker.usage().cpuMicroseconds - usage.cpuMicroseconds
    let redisSpent =
      try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds - redis.cpuMicroseconds
    return Measurement(
      pushes: accepted, wallSeconds: seconds, workerMicroseconds: spent,
      redisMicroseconds: redisSpent,
      commands: try await stage.session.usage().commands - commands)
  }
}
