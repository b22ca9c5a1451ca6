import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

@Suite struct SharingTests {
  /// Slow enough that a campaign is shared, and can be interrupted.
  private static let worker = WorkerConfiguration.narrow(50)

  @Test("two workers share a campaign and no installation is sent to twice (gorush#850)")
  func sharesCampaign() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 30 }
    try await PushStage.with(script: script, worker: Self.worker) { stage in
      try await stage.client.install(try Devices.apns(0..<3_000))
      try await stage.withWorkers(2) { _ in
        try await stage.waitUntilBeating(2)
        _ = try await stage.client.enqueue(Devices.job("sale", 0..<3_000))
        let record = try await stage.client.finished("sale")
        stage.expectDelivered(record, 3_000)
        #expect(record.counts.retries == 0)
      }
      // Each worker has one connection.
      let byConnection = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.connection)
      #expect(byConnection.count == 2)
      #expect(byConnection.values.allSatisfy { $0.count >= 300 })
    }
  }

  @Test("the workers of a fleet exchange one bearer token, and one more when it is refused")
  func sharesBearerToken() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 30 }
    try await PushStage.with(script: script, worker: Self.worker) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<3_000))
      try await stage.withWorkers(2) { _ in
        try await stage.waitUntilBeating(2)
        _ = try await client.enqueue(Devices.job("first", 0..<3_000))
        stage.expectDelivered(try await client.finished("first"), 3_000)
        #expect(stage.simulator.counters.bearerTokensIssued == 1)
        let byConnection = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.connection)
        #expect(byConnection.count == 2)
        stage.simulator.script = .stage {
          // Long enough to end it between two requests with the new token.
          $0.delayMs = 500
          $0.all = ScriptRule(network: .fcm, status: 401)
        }
        _ = try await client.enqueue(Devices.job("second", 0..<3_000))
        _ = try await eventually("another token is fetched") {
          stage.simulator.counters.bearerTokensIssued == 2 ? true : nil
        }
        stage.simulator.script = .stage()
        let second = try await client.finished("second")
        #expect(second.counts.accepted == 3_000)
        #expect(second.counts.retries == 0)
      }
      #expect(stage.simulator.counters.bearerTokensIssued == 2)
      let keys = try await client.command("KEYS", "pushpool:credential:fcm:*").array ?? []
      #expect(keys.count == 1)
    }
  }

  @Test("only what failed is tried again, not its batch (rpush#331, pushy#794)")
  func retriesOnlyWhatFailed() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "ff", status: 503, reason: "ServiceUnavailable")]
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(
        try (0..<500).map { try Devices.apns($0, prefix: $0 % 5 == 0 ? "ff" : "") })
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("batch", 0..<500))
        try await stage.waitUntilAccepted(400)
        stage.simulator.script = .stage()
        let record = try await stage.client.finishedInHaste("batch")
        stage.expectDelivered(record, 500)
        #expect(record.counts.retries > 0)
      }
      #expect((stage.simulator.counters.answers[503] ?? 0) >= 100)
      #expect(stage.simulator.counters.answers[200] == 500)
    }
  }

  @Test("one device that fails does not bring its user's other device a second push")
  func siblingIsNotRepeated() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "ff", status: 503, reason: "ServiceUnavailable", times: 50)
      ]
    }
    try await PushStage.with(script: script) { stage in
      // Every fourth user has a second one: so little trouble opens no breaker.
      try await stage.client.install(try Devices.apns(0..<200))
      for number in 0..<50 {
        try await stage.client.install([
          try Devices.apns(1_000 + number, user: "u\(4 * number)", prefix: "ff")
        ])
      }
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("both", 0..<200))
        let record = try await stage.client.finishedInHaste("both")
        stage.expectDelivered(record, 250)
        // So much trouble is not all the pushes' own: some of it is no attempt.
        #expect((1...50).contains(record.counts.retries))
        #expect(stage.simulator.counters.answers[503] == 50)
      }
    }
  }

  @Test("workers that stop in mid-campaign lose nothing (gorush#330, gorush#441, pushy#93)")
  func drainsInMidCampaign() async throws {
    try await PushStage.with(script: .slow, worker: Self.worker) { stage in
      try await stage.client.install(try Devices.apns(0..<3_000))
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<3_000))
      for stop in 1...4 {
        try await stage.withWorkers { _ in try await stage.waitUntilAccepted(stop * 400) }
        let record = try #require(try await stage.client.record("sale"))
        #expect(record.state == .running)
        #expect(record.isBalanced)
        // Everything that was accepted is counted, and nothing is left in a lease.
        #expect(record.counts.accepted == stage.simulator.counters.accepted)
        #expect(try await stage.client.claimedChunks() == 0)
      }
      try await stage.withWorkers { _ in
        let record = try await stage.client.finished("sale")
        stage.expectDelivered(record, 3_000)
        #expect(record.counts.retries == 0)
      }
    }
  }

  @Test("a job by plain redis-cli XADD reaches the simulator")
  func plainProducer() async throws {
    try await PushStage.with { stage in
      try await stage.client.install([try Devices.apns(1)])
      try await stage.withWorkers { _ in
        let producer = try ChildProcess(
          "redis-cli",
          [
            "-s", stage.redis.socketPath, "XADD", "pushpool:jobs:high", "*", "job",
            Devices.job("plain", 1..<3),
          ], output: .discard)
        #expect(await producer.waitForExit(timeoutMs: 60_000) == .code(0))
        let record = try await stage.client.finished("plain")
        stage.expectDelivered(record, 1)
        #expect(record.counts.noInstallations == 1)
      }
    }
  }

  @Test("the same job enqueued twice is sent once")
  func ignoresRepeatedJob() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try Devices.apns(0..<10))
      try await stage.withWorkers { _ in
        for _ in 0..<3 { _ = try await stage.client.enqueue(Devices.job("once", 0..<10)) }
        _ = try await stage.client.enqueue(Devices.job("last", 0..<1), priority: .low)
        let record = try await stage.client.finished("once")
        #expect(record.counts.accepted == 10)
        _ = try await stage.client.finished("last")
      }
      #expect(stage.simulator.counters.accepted == 11)
      #expect(try await stage.client.length("dead") == 0)
    }
  }
}
