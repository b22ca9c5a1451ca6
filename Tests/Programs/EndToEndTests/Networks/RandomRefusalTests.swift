import LocalServices
import Model
import Simulator
import Testing

/// Networks that treat one request in many wrongly, as one bad server behind a balancer does.
@Suite struct RandomRefusalTests {
  private static let users = 4_000

  private static func script(_ rule: ScriptRule, percent: Double) -> SimulatorScript {
    SimulatorScript.stage {
      $0.seed = 47
      $0.all = rule
      $0.all?.probability = percent / 100
    }
  }

  private static func others(_ numbers: Range<Int>) throws -> [Installation] {
    try Devices.apns(numbers, prefix: "0b").map {
      var installation = $0
      installation.app = "other"
      return installation
    }
  }

  @Test(
    "a provider token that a few answers refuse at random stops nobody, and is no alarm",
    arguments: [1.0, 20])
  func keepsTheCredential(percent: Double) async throws {
    let rule = ScriptRule(network: .apns, status: 403, reason: "ExpiredProviderToken")
    try await PushStage.with(
      script: Self.script(rule, percent: percent),
      endpoints: PushStage.Endpoints(moreApps: ["other"])
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<Self.users))
      try await client.install(try Self.others(0..<100))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<Self.users))
        _ = try await client.enqueue(
          Devices.job("beside", 0..<100).replacing("\"shop\"", with: "\"other\""))
        let record = try await client.finishedInHaste("sale")
        #expect(record.counts.accepted == Self.users)
        #expect(record.counts.rejected == 0 && record.counts.failed == 0)
        #expect(record.isBalanced)
        #expect(try await client.finished("beside", app: "other").counts.accepted == 100)
        #expect(try await client.alarms().isEmpty)
      }
      #expect((stage.simulator.counters.answers[403] ?? 0) > 0)
      #expect(stage.duplicates == 0)
    }
  }

  @Test(
    "streams that the network calls malformed at random cost nobody an attempt, and reject nobody",
    arguments: [1.0, 10])
  func rejectsNobody(percent: Double) async throws {
    var rule = ScriptRule(action: .reset)
    rule.resetCode = 1
    try await PushStage.with(script: Self.script(rule, percent: percent)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<Self.users))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<Self.users))
        let record = try await client.finishedInHaste("sale")
        #expect(record.counts.accepted == Self.users)
        #expect(record.counts.rejected == 0 && record.counts.failed == 0)
        #expect(record.isBalanced)
        #expect(try await client.alarms().isEmpty)
      }
      #expect(stage.simulator.counters.resets > 0)
      #expect(stage.duplicates == 0)
    }
  }
}
