import Glibc
import LocalServices
import Stage

/// Jobs that are all there before a warm worker takes the first of them in: what they cost it and Redis, without the producer's
/// commands.
struct Backlog {
  struct Measurement: Sendable {
    var wallSeconds: Double
    var workerMicroseconds: Double
    var redisMicroseconds: Double
    /// Those inside functions included.
    var commands: Int
  }

  let stage: BenchStage
  let worker: WorkerProcess

  /// - Parameter pushes: that the jobs come to.
  func measure(_ jobs: [Campaign.Job], pushes: Int) async throws -> Measurement {
    worker.child.signal(SIGSTOP)
    do { for job in jobs { try await stage.session.enqueue(job.bytes) } } catch {
      worker.child.signal(SIGCONT)
      throw error
    }
    let (redis, usage) = (try ProcessUsage(pid: await stage.redis.pid), try worker.usage())
    let commands = try await stage.session.usage().commands
    let accepted = try await stage.simulator.counters().accepted
    let start = ContinuousClock.now
    worker.child.signal(SIGCONT)
    while try await stage.simulator.counters().accepted < accepted + pushes {
      guard ContinuousClock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
        throw BenchError("\(jobs.count) jobs took over \(BenchLimits.campaignMsMax / 1_000) s")
      }
      try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.pollMs))
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    // The last ones that begin need not be the last ones that end.
    try await Campaign(session: stage.session).end(jobs.suffix(BenchLimits.lastJobs))
    let spent = try worker.usage().cpuMicroseconds - usage.cpuMicroseconds
    let redisSpent =
      try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds - redis.cpuMicroseconds
    return Measurement(
      wallSeconds: seconds, workerMicroseconds: spent, redisMicroseconds: redisSpent,
      commands: try await stage.session.usage().commands - commands)
  }
}
