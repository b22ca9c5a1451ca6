import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

/// Installations whose environment is not what APNs knows them for.
@Suite struct EnvironmentTests {
  /// Tokens that begin with "de" belong to the development environment.
  private static func script(
    _ change: (inout SimulatorScript) -> Void = { _ in }
  ) -> SimulatorScript {
    .stage {
      $0.developmentTokenPrefix = "de"
      change(&$0)
    }
  }

  private static let both = PushStage.Endpoints(hasDevelopment: true)

  @Test("a device in the wrong environment gets its push at once, and is relabelled")
  func heals() async throws {
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      let client = stage.client
      let development = try #require(stage.development)
      try await client.install(try Devices.apns(0..<20))
      // More than a mass death would need.
      try await client.install(try Devices.apns(20..<100, prefix: "de"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<100))
        let first = try await client.finished("first")
        #expect(first.counts.accepted == 100)
        #expect(first.counts.retries == 0)
        #expect(first.isBalanced)
        #expect(stage.simulator.counters.answers[400] == 80)
        #expect(development.counters.accepted == 80)
        for user in [20, 99] {
          let device = try #require(try await client.devices("u\(user)").first)
          #expect(device.installation.environment == .development)
        }
        _ = try await client.enqueue(Devices.job("second", 0..<100))
        #expect(try await client.finished("second").counts.accepted == 100)
      }
      // The second time they were sent to the right one at once.
      #expect(stage.simulator.counters.answers[400] == 80)
      #expect(development.counters.accepted == 160)
      #expect(try await client.alarms().isEmpty)
      let audit = try await client.entries("audit")
      #expect(audit.count == 80)
      #expect(audit.allSatisfy { $0["cause"] == "environment" && $0["by"] == "development" })
    }
  }

  @Test("an installation for development that is a production one is healed as well")
  func healsTheOtherWay() async throws {
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      var device = try Devices.apns(1)
      device.environment = .development
      try await stage.client.install([device])
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("one", 1..<2))
        #expect(try await stage.client.finished("one").counts.accepted == 1)
      }
      let healed = try #require(try await stage.client.devices("u1").first)
      #expect(healed.installation.environment == .production)
    }
  }

  @Test("a token that is bad in both environments is dead; one that is gone in the other one, too")
  func removesBadInBoth() async throws {
    let script = Self.script {
      $0.rules = [
        ScriptRule(tokenPrefix: "bad", status: 400, reason: "BadDeviceToken"),
        ScriptRule(
          tokenPrefix: "de01", status: 410, reason: "Unregistered",
          timestampMs: 4_000_000_000_000),
      ]
    }
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      let client = stage.client
      stage.simulator.script = Self.script {
        $0.rules = [ScriptRule(tokenPrefix: "bad", status: 400, reason: "BadDeviceToken")]
      }
      stage.development?.script = script
      try await client.install(try Devices.apns(0..<90))
      try await client.install(try Devices.apns(90..<95, prefix: "bad"))
      try await client.install(try Devices.apns(95..<97, prefix: "de01"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("mixed", 0..<97))
        let record = try await client.finished("mixed")
        #expect(record.counts.accepted == 90)
        #expect(record.counts.uninstalled == 7)
        #expect(record.isBalanced)
      }
      let reasons = try await client.entries("uninstalled").compactMap { $0["reason"] }
      #expect(reasons.count { $0 == "BadDeviceToken" } == 5)
      #expect(reasons.count { $0 == "Unregistered" } == 2)
    }
  }

  @Test("a job for one environment never reaches the other, and removes nothing for that")
  func keepsToTheJobsEnvironment() async throws {
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3, prefix: "de"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Devices.job("limited", 0..<3, #", "environments": ["production"]"#))
        let record = try await client.finished("limited")
        #expect(record.counts.rejected == 3)
      }
      #expect(stage.development?.counters.requests == 0)
      let device = try #require(try await client.devices("u1").first)
      #expect(device.installation.environment == .production)
    }
  }

  @Test("trouble in the other environment is a retry, which starts from the stored one again")
  func retriesFromStoredEnvironment() async throws {
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      let client = stage.client
      stage.development?.script = Self.script {
        $0.all = ScriptRule(status: 503, reason: "ServiceUnavailable", times: 3)
      }
      try await client.install(try Devices.apns(0..<3, prefix: "de"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("twice", 0..<3))
        let record = try await client.finishedInHaste("twice")
        #expect(record.counts.accepted == 3)
        #expect(record.counts.retries == 3)
      }
      #expect(stage.simulator.counters.answers[400] == 6)
      let device = try #require(try await client.devices("u1").first)
      #expect(device.installation.environment == .development)
    }
  }

  @Test("a token that was installed again while it was tried elsewhere is not relabelled")
  func heedsGeneration() async throws {
    try await PushStage.with(script: Self.script(), endpoints: Self.both) { stage in
      let client = stage.client
      stage.development?.script = Self.script { $0.delayMs = 2_000 }
      let device = try Devices.apns(1, prefix: "de")
      try await client.install([device])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("late", 1..<2))
        _ = try await eventually("it is tried in the other environment") {
          stage.development?.counters.requests ?? 0 >= 1 ? true : nil
        }
        try await client.install([device])
        #expect(try await client.finished("late").counts.accepted == 1)
      }
      let kept = try #require(try await client.devices("u1").first)
      #expect(kept.installation.environment == .production)
    }
  }
}
