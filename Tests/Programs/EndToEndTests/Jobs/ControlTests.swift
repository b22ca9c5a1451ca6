import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Testing

@Suite struct ControlTests {
  @Test("a job that is cancelled while it runs sends nothing more after a second")
  func cancels() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("stop", 0..<3_000))
        try await stage.waitUntilAccepted(100)
        #expect(try await client.cancel("stop") == .cancelled)
        let cancelledAtMs = try await client.serverMs()
        let record = try await eventually("every chunk is settled") {
          let record = try await client.record("stop")
          return record?.pending == 0 ? record : nil
        }
        #expect(record.state == .cancelled)
        #expect(record.isBalanced)
        #expect(record.counts.accepted == stage.simulator.counters.accepted)
        #expect(record.counts.skipped == 3_000 - record.counts.accepted)
        let late = stage.simulator.acceptedPushes.filter {
          $0.acceptedAtMs > cancelledAtMs + PushStage.promptMs
        }
        #expect(late.isEmpty)
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.length("finished") == 1)
    }
  }

  @Test("a job that is paused while it runs rests after a second, and goes on without a duplicate")
  func pausesAndResumes() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_400))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("rest", 0..<2_400))
        for _ in 1...2 {
          try await stage.waitUntilAccepted(stage.simulator.counters.accepted + 100)
          #expect(try await client.pause("rest") == .paused)
          let pausedAtMs = try await client.serverMs()
          // In flight at the pause and settled after it: then no chunk is claimed.
          let record = try await eventually("the job rests") {
            let isResting = try await client.claimedChunks() == 0
            return isResting ? try await client.record("rest") : nil
          }
          #expect(record.state == .paused)
          #expect(record.isBalanced)
          #expect(record.pending > 0)
          #expect(record.counts.accepted == stage.simulator.counters.accepted)
          let late = stage.simulator.acceptedPushes.filter {
            $0.acceptedAtMs > pausedAtMs + PushStage.promptMs
          }
          #expect(late.isEmpty)
          #expect(try await client.resume("rest") == .running)
        }
        let record = try await client.finished("rest")
        stage.expectDelivered(record, 2_400)
        #expect(record.counts.retries == 0)
      }
    }
  }

  @Test("jobs that are stopped by command while no worker runs send nothing when one comes")
  func stopsWaiting() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      func command(_ id: String, _ action: String) async throws {
        let child = try ChildProcess(
          PushStage.programFolder + "/pushpool",
          ["job", id, action, "--app", "shop", "--redis", stage.redis.url], output: .discard,
          error: .discard)
        #expect(await child.waitForExit(timeoutMs: 30_000) == .code(0), "\(action) \(id)")
      }
      try await client.install(try Devices.apns(0..<600))
      _ = try await client.command("SADD", "crowd", "u1", "u2", "u3")
      _ = try await client.enqueue(Devices.job("campaign", 0..<600))
      let entry = try await client.enqueue(
        #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"body": "x"}}"#)
      _ = try await client.enqueue(
        #"{"id": "key", "app": "shop", "audience": {"users_key": "crowd"}, "notification": {"body": "x"}}"#
      )
      _ = try await client.enqueue(Devices.job("rest", 0..<300), priority: .high)
      // After them: when it is done, they have been taken in.
      _ = try await client.enqueue(Devices.job("other", 590..<600), priority: .low)
      for id in ["campaign", "n\(entry)", "key"] { try await command(id, "cancel") }
      try await command("rest", "pause")
      try await stage.withWorkers { _ in
        #expect(try await client.finished("other").counts.accepted == 10)
        for (id, total) in [("campaign", 600), ("n\(entry)", 1), ("key", 3)] {
          let record = try #require(try await client.record(id))
          #expect(record.state == .cancelled && record.isAdmitted && record.isBalanced)
          #expect(record.total == total && record.counts.skipped == total, "\(id)")
        }
        #expect(try await client.record("rest")?.state == .paused)
        #expect(stage.simulator.counters.accepted == 10)
        #expect(try await client.length("finished") == 4)
        try await command("rest", "resume")
        let record = try await client.finished("rest")
        #expect(record.state == .done && record.counts.accepted == 300 && record.isBalanced)
        #expect(stage.simulator.counters.accepted == 310)
        #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 310)
      }
      #expect(try await client.length("finished") == 5)
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("another job is not held up by a campaign")
  func prefersHighPriority() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(100)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<6_000))
      try await client.install([try Devices.apns(9_999)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("bulk", 0..<6_000), priority: .low)
        try await stage.waitUntilAccepted(50)
        _ = try await client.enqueue(Devices.job("urgent", 9_999..<10_000), priority: .high)
        #expect(try await client.finished("urgent").counts.accepted == 1)
        #expect(try await client.record("bulk")?.state == .running)
        _ = try await client.cancel("bulk")
      }
    }
  }

  @Test("a network that does not answer does not hold up another")
  func separatesDestinations() async throws {
    let script = SimulatorScript.stage {
      var stall = ScriptRule(action: .stall)
      stall.network = .apns
      $0.rules = [stall]
    }
    let worker = WorkerConfiguration(
      lanes: 1, drainSeconds: 1, leaseSeconds: 10, requestTimeoutSeconds: 60)
    try await PushStage.with(script: script, worker: worker) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3_000))
      try await client.install([try Devices.fcm(9_999)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("stuck", 0..<3_000))
        _ = try await eventually("APNs does not answer") {
          stage.simulator.counters.stalled >= 1 ? true : nil
        }
        _ = try await client.enqueue(Devices.job("free", 9_999..<10_000))
        #expect(try await client.finished("free", withinSeconds: 30).counts.accepted == 1)
      }
    }
  }
}
