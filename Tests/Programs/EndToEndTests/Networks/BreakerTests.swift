import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

@Suite struct BreakerTests {
  /// Answers that it takes for a breaker to open.
  private static let answersMin = 20

  @Test("an outage burns no attempts, and all is sent once it is over")
  func survivesOutage() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .apns, status: 503, reason: "ServiceUnavailable")
    }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<800))
      try await client.install(try Devices.fcm(1_000..<1_010))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("outage", 0..<800))
        let alarm = try await eventually("an alarm is raised") {
          try await client.alarms().first
        }
        #expect(alarm.field == "breaker|shop|apns|production")
        #expect(alarm.message.contains("503 ServiceUnavailable"))
        // The other network is none of its business.
        _ = try await client.enqueue(Devices.job("fcm", 1_000..<1_010))
        #expect(try await client.finished("fcm").counts.accepted == 10)
        let first = try #require(stage.simulator.counters.answers[503])
        _ = try await eventually("it is probed") {
          (stage.simulator.counters.answers[503] ?? 0) > first ? true : nil
        }
        let during = try #require(try await client.record("outage"))
        #expect(during.counts.retries < Self.answersMin)
        #expect(during.counts.failed == 0)
        stage.simulator.script = .stage()
        let record = try await client.finished("outage", withinSeconds: 120)
        #expect(record.counts.accepted == 800)
        #expect(record.counts.retries < Self.answersMin)
        #expect(record.isBalanced)
        _ = try await eventually("the alarm ends") {
          try await client.alarms().isEmpty ? true : nil
        }
      }
      #expect(stage.duplicates == 0)
      #expect(stage.simulator.counters.accepted == 810)
    }
  }

  @Test("an outage that one push alone meets with costs it no more than some attempts")
  func outlastsOutageAlone() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .apns, status: 503, reason: "ServiceUnavailable")
    }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("alone", 0..<1))
        let alarm = try await eventually("an alarm is raised") {
          try await client.alarms().first
        }
        #expect(alarm.field == "breaker|shop|apns|production")
        stage.simulator.script = .stage()
        let record = try await client.finished("alone", withinSeconds: 120)
        #expect(record.counts.accepted == 1)
        #expect(record.counts.retries < Limits.attemptsMax - 1)
      }
    }
  }

  @Test("an exceeded quota is given its minute by everybody, not push by push")
  func heedsQuota() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .fcm, status: 429, reason: "QUOTA_EXCEEDED")
    }
    try await PushStage.with(script: script, worker: .narrow(50)) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("quota", 0..<2_000))
        _ = try await eventually("all of it waits") {
          let record = try await client.record("quota")
          return try await client.claimedChunks() == 0 && record?.state == .running ? true : nil
        }
        // What opened it, and what was in flight then.
        #expect((stage.simulator.counters.answers[429] ?? 0) <= Self.answersMin + 50)
        let record = try #require(try await client.record("quota"))
        #expect(record.counts.retries < Self.answersMin)
        #expect(record.pending == 2_000)
      }
    }
  }

  @Test("too many pushes to single devices are no trouble of the network's")
  func passesOverDeviceLimits() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "ff", status: 429, reason: "TooManyRequests")]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<200, prefix: "ff"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("eager", 0..<200))
        _ = try await eventually("each was tried") {
          try await client.record("eager")?.counts.retries ?? 0 >= 200 ? true : nil
        }
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("eager")
        #expect(record.counts.accepted == 200)
        #expect(try await client.alarms().isEmpty)
      }
    }
  }
}
