import LocalServices
import Model
import Stage
import Typesetting

/// A fresh worker that carries one campaign, and what it used for it.
struct Delivery {
  struct Measurement: Sendable {
    /// Pushes that the network answered.
    var pushes: Int
    /// Requests that they came in.
    var requests: Int
    var wallSeconds: Double
    var workerCPUMicroseconds: Double
    var redisCPUMicroseconds: Double
    var simulatorCPUMicroseconds: Double
    var redisCommands: Int
    var redisClientCommands: Int
    var workerResidentBytesMax: Int
    /// Pushes a second in the steady part; nil when the campaign was too short to have one.
    var steadyPushesPerSecond: Double?
  }

  private struct Moment {
    var worker: ProcessUsage
    var redisProcess: ProcessUsage
    var simulatorProcess: ProcessUsage
    var redis: RedisUsage
    var simulator: SimulatorCounters
    var at: ContinuousClock.Instant
  }

  let stage: BenchStage

  /// - Parameters:
  ///   - warmUp: jobs that open the connections and warm caches up before anything is measured.
  ///   - accepted: how many installations accept the campaign's pushes.
  ///   - dead: how many have dead tokens.
  ///   - samples: whether to measure the steady part; asking the simulator costs it a little.
  func measure(
    warmUp: [Campaign.Job], warmUpAccepted: Int, _ jobs: [Campaign.Job], accepted: Int,
    dead: Int = 0, samples: Bool = false
  ) async throws -> Measurement {
    let campaign = Campaign(session: stage.session)
    return try await stage.withWorker { worker in
      try await campaign.run(warmUp, accepting: warmUpAccepted)
      let before = try await moment(worker)
      var points: [Campaign.Point] = []
      try await campaign.run(jobs, accepting: accepted) {
        guard samples else { return }
        let accepted = try await stage.simulator.counters().accepted - before.simulator.accepted
        points.append(
          Campaign.Point(
            atSeconds: (ContinuousClock.now - before.at) / .seconds(1), accepted: accepted))
      }
      let after = try await moment(worker)
      let measured = after.simulator.accepted - before.simulator.accepted
      guard measured == accepted else {
        throw BenchError(
          "the simulator accepted \(FigureText.count(measured)) pushes, not "
            + FigureText.count(accepted))
      }
      return try compare(before, after, pushes: accepted + dead, points: points)
    }
  }

  private func moment(_ worker: WorkerProcess) async throws -> Moment {
    Moment(
      worker: try worker.usage(), redisProcess: try ProcessUsage(pid: await stage.redis.pid),
      simulatorProcess: try ProcessUsage(pid: stage.simulator.pid),
      redis: try await stage.session.usage(), simulator: try await stage.simulator.counters(),
      at: ContinuousClock.now)
  }

  private func compare(
    _ before: Moment, _ after: Moment, pushes: Int, points: [Campaign.Point]
  ) throws -> Measurement {
    guard after.simulator.violations == 0 else {
      throw BenchError(
        "the simulator saw \(after.simulator.violations) violations of the HTTP/2 protocol")
    }
    return Measurement(
      pushes: pushes, requests: after.simulator.requests - before.simulator.requests,
      wallSeconds: (after.at - before.at) / .seconds(1),
      workerCPUMicroseconds: after.worker.cpuMicroseconds - before.worker.cpuMicroseconds,
      redisCPUMicroseconds: after.redisProcess.cpuMicroseconds
        - before.redisProcess.cpuMicroseconds,
      simulatorCPUMicroseconds: after.simulatorProcess.cpuMicroseconds
        - before.simulatorProcess.cpuMicroseconds,
      redisCommands: after.redis.commands - before.redis.commands,
      redisClientCommands: after.redis.clientCommands - before.redis.clientCommands,
      workerResidentBytesMax: after.worker.residentBytesMax,
      steadyPushesPerSecond: SteadyPart.rate(points, of: pushes))
  }
}

/// The middle of a campaign, without its start and its last pushes.
enum SteadyPart {
  /// Pushes per second between the first points beyond the two bounds; nil when there are no such two.
  static func rate(_ points: [Campaign.Point], of pushes: Int) -> Double? {
    let from = Double(pushes) * BenchLimits.steadyFrom
    let to = Double(pushes) * BenchLimits.steadyTo
    guard let first = points.first(where: { Double($0.accepted) >= from }),
      let last = points.last(where: { Double($0.accepted) <= to }),
      last.atSeconds > first.atSeconds
    else { return nil }
    return Double(last.accepted - first.accepted) / (last.atSeconds - first.atSeconds)
  }
}
