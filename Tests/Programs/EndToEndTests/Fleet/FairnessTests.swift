import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

@Suite struct FairnessTests {
  @Test("one job of an app is done while 50,000 of another wait (fault matrix, row 13)")
  func sharesQueue() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 20 }
    try await PushStage.with(script: script, endpoints: PushStage.Endpoints(moreApps: ["bulk"])) {
      stage in
      let client = stage.client
      try await client.install([try Devices.apns(7)])
      var busy = try Devices.apns(1)
      busy.app = "bulk"
      try await client.install([busy])
      _ = try await client.command(
        "EVAL",
        """
        for n = 1, 50000 do
          redis.call('XADD', KEYS[1], '*', 'job', '{"id": "many-' .. n .. '", "app": "' .. ARGV[1]
            .. '", "audience": {"users": ["u1"]}, "notification": {"title": "x"}}')
        end
        """, "1", "pushpool:jobs:normal", "bulk")
      try await stage.withWorkers { _ in
        _ = try await eventually("the many are on their way") {
          stage.simulator.counters.accepted >= 20 ? true : nil
        }
        _ = try await client.enqueue(Devices.job("one", 7..<8))
        let record = try await client.finished("one")
        #expect(record.counts.accepted == 1)
        // In the order in which they came it would have been the last.
        #expect(try await client.length("jobs:normal") > 0)
        // On a slow machine each job that the lane has in hand becomes a chunk, and as many wait as are worked on. Beside
        // them are the jobs that the lane had taken before so many waited.
        let (carried, taken): (Int64, Int64) = (384 + 32, 128)
        #expect(try await client.length("chunks:normal") <= 2 * carried + taken)
      }
    }
  }

  @Test("a job of one user is delivered while one of 100,000 before it is still being taken in")
  func passesLargeJob() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install([try Devices.apns(100_000)])
      _ = try await client.enqueue(Devices.job("large", 0..<100_000))
      _ = try await client.enqueue(Devices.job("small", 100_000..<100_001))
      try await stage.withWorkers { _ in
        let small = try await client.finished("small")
        let large = try await client.finished("large", withinSeconds: 120)
        #expect(small.counts.accepted == 1 && large.counts.noInstallations == 100_000)
        #expect(try #require(small.startedAtMs) < (try #require(large.startedAtMs)))
      }
    }
  }

  @Test("a job of high priority is delivered while a lane has more large jobs than it may keep")
  func passesLargeJobs() async throws {
    try await PushStage.with(worker: WorkerConfiguration(lanes: 1)) { stage in
      let client = stage.client
      try await client.install([try Devices.apns(200_000)])
      for number in 0..<5 {
        _ = try await client.enqueue(Devices.job("large-\(number)", 0..<200_000))
      }
      try await stage.withWorkers { _ in
        _ = try await eventually("the lane is full") {
          // There is no group yet at first.
          let pending = try? await client.command("XPENDING", "pushpool:jobs:normal", "workers")
          return (pending?.array?.first?.integer ?? 0) >= 3 ? true : nil
        }
        var last: Int64 = 0
        for number in 0..<3 {
          let id = "small-\(number)"
          _ = try await client.enqueue(Devices.job(id, 200_000..<200_001), priority: .high)
          let small = try await client.finished(id)
          #expect(small.counts.accepted == 1)
          last = try #require(small.startedAtMs)
        }
        let large = try await eventually("the first is taken in") {
          try await client.record("large-0").flatMap { $0.startedAtMs == nil ? nil : $0 }
        }
        #expect(last < (try #require(large.startedAtMs)))
      }
    }
  }

  @Test("large jobs that wait for one another are taken in though the connection to Redis is lost")
  func takesLargeJobsUpAgain() async throws {
    let worker = WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 120)
    try await PushStage.with(worker: worker) { stage in
      let client = stage.client
      let ids = (0..<4).map { "large-\($0)" }
      for id in ids { _ = try await client.enqueue(Devices.job(id, 0..<20_000)) }
      try await stage.withWorkers { _ in
        for id in ids {
          // It has its name and is being uploaded.
          _ = try await eventually("\(id) is taken in") { try await client.record(id) }
          _ = try await client.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        }
        // Neither a job nor a chunk has to wait for its lease to run out.
        for id in ids {
          let record = try await client.finished(id, withinSeconds: 100)
          #expect(record.counts.noInstallations == 20_000 && record.isBalanced)
        }
        #expect(try await client.length("dead") == 0)
      }
    }
  }

  @Test("large jobs that a worker has taken and not admitted when it is told to end are not lost")
  func leavesLargeJobs() async throws {
    let worker = WorkerConfiguration(lanes: 1, drainSeconds: 1, leaseSeconds: 3)
    try await PushStage.with(worker: worker) { stage in
      let client = stage.client
      let ids = (0..<6).map { "large-\($0)" }
      for id in ids { _ = try await client.enqueue(Devices.job(id, 0..<20_000)) }
      let first = try stage.startProcess()
      _ = try await eventually("one is taken in") { try await client.record(ids[0]) }
      #expect(await first.terminate(graceMs: 60_000) == .code(0))
      let second = try stage.startProcess()
      for id in ids {
        let record = try await client.finished(id, withinSeconds: 100)
        #expect(record.counts.noInstallations == 20_000 && record.isBalanced)
      }
      #expect(try await client.length("dead") == 0)
      #expect(await second.terminate(graceMs: 60_000) == .code(0))
    }
  }
}
