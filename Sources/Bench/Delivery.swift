import LocalServices
import Model

/// A fresh worker that carries one campaign, and what it used for it.
struct Delivery {
  struct Measurement: Sendable {
    var pushes: Int
    var wallSeconds: Double
    var workerCPUMicroseconds: Double
    var redisCPUMicroseconds: Double
    var simulatorCPUMicroseconds: Double
    var redisCommands: Int
    var redisClientCommands: Int
    var workerResidentBytesMax: Int
    /// Of the steady part; nil when the campaign was too short to have one.
    var steadyPushesPerSecond: Double?
  }

  private struct Moment {
    var worker: ProcessUsage
    var redisProcess: ProcessUsage
    var simulatorProcess: ProcessUsage
    var redis: RedisUsage
    var simulator: SimulatorProcess.Counters
    var at: ContinuousClock.Instant
  }

  let stage: Stage
  let population: Population

  /// - Parameters:
  ///   - number: distinct for each call on a stage.
  ///   - samples: whether to measure the steady part; asking the simulator costs it a little.
  func measure(number: Int, users: Int, samples: Bool = false) async throws -> Measurement {
    let worker = try WorkerProcess(
      program: stage.programs.pushpool, configurationFile: stage.configurationFile)
    do {
      try await Campaign(stage: stage, name: "warm-up-\(number)").run(
        population, users: min(users, BenchLimits.warmUpUsers))
      let before = try await moment(worker)
      var points: [Campaign.Point] = []
      try await Campaign(stage: stage, name: "campaign-\(number)").run(population, users: users) {
        guard samples else { return }
        let accepted = try await stage.simulator.counters().accepted - before.simulator.accepted
        points.append(
          Campaign.Point(atSeconds: seconds(since: before.at), accepted: accepted))
      }
      let after = try await moment(worker)
      await worker.stop()
      return try compare(before, after, users: users, points: points)
    } catch {
      await worker.stop()
      throw error
    }
  }

  private func moment(_ worker: WorkerProcess) async throws -> Moment {
    Moment(
      worker: try worker.usage(), redisProcess: try ProcessUsage(pid: await stage.redis.pid),
      simulatorProcess: try ProcessUsage(pid: stage.simulator.pid),
      redis: try await stage.session.usage(), simulator: try await stage.simulator.counters(),
      at: ContinuousClock.now)
  }

  private func seconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .seconds(1)
  }

  private func compare(
    _ before: Moment, _ after: Moment, users: Int, points: [Campaign.Point]
  ) throws -> Measurement {
    let accepted = after.simulator.accepted - before.simulator.accepted
    guard accepted == users else {
      throw BenchError(
        "of \(Figure.grouped(users)) pushes the simulator accepted \(Figure.grouped(accepted))")
    }
    guard after.simulator.violations == 0 else {
      throw BenchError(
        "the simulator saw \(after.simulator.violations) violations of the HTTP/2 protocol")
    }
    return Measurement(
      pushes: users, wallSeconds: (after.at - before.at) / .seconds(1),
      workerCPUMicroseconds: after.worker.cpuMicroseconds - before.worker.cpuMicroseconds,
      redisCPUMicroseconds: after.redisProcess.cpuMicroseconds
        - before.redisProcess.cpuMicroseconds,
      simulatorCPUMicroseconds: after.simulatorProcess.cpuMicroseconds
        - before.simulatorProcess.cpuMicroseconds,
      redisCommands: after.redis.commands - before.redis.commands,
      redisClientCommands: after.redis.clientCommands - before.redis.clientCommands,
      workerResidentBytesMax: after.worker.residentBytesMax,
      steadyPushesPerSecond: SteadyPart.rate(points, of: users))
  }
}
