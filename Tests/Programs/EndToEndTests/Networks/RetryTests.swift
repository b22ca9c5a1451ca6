import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing

@Suite struct RetryTests {
  @Test("a push that meets a 503 is sent again by itself, and the retry is counted")
  func retriesTrouble() async throws {
    let script = SimulatorScript.stage {
      // Fewer than open a breaker.
      $0.all = ScriptRule(status: 503, reason: "ServiceUnavailable", times: 9)
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<200))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("again", 0..<200))
        let record = try await stage.client.finished("again")
        stage.expectDelivered(record, 200)
        #expect(record.counts.retries == 9)
      }
    }
  }

  @Test("a network that refuses most requests at random gets all pushes, and none is given up")
  func outlastsRandomTrouble() async throws {
    let script = SimulatorScript.stage {
      var refusal = ScriptRule(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 2)
      refusal.probability = 0.5
      // By bad luck some of them say that it is the device's.
      var own = ScriptRule(status: 429, reason: "TooManyRequests")
      own.probability = 0.2
      $0.rules = [own]
      $0.all = refusal
      $0.seed = 60
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("lossy", 0..<2_000))
        let record = try await stage.client.finishedInHaste("lossy")
        stage.expectDelivered(record, 2_000)
        #expect(record.counts.failed == 0)
        #expect(try await stage.client.alarms().isEmpty, "it was never closed")
      }
    }
  }

  @Test("a 429's Retry-After is waited for")
  func honoursRetryAfter() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(
        status: 429, reason: "TooManyRequests", retryAfterSeconds: 120, times: 1)
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("later", 1..<2))
        let dueMs = try await eventually("it waits") { try await client.nextDueMs() }
        #expect(dueMs > 110_000)
        #expect(dueMs < 125_000)
        let record = try await client.finishedInHaste("later")
        stage.expectDelivered(record, 1)
        #expect(record.counts.retries == 1)
      }
    }
  }

  @Test("FCM's exceeded quota is given a minute")
  func givesQuotaAMinute() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .fcm, status: 429, reason: "QUOTA_EXCEEDED", times: 1)
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install([try Devices.fcm(1)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("quota", 1..<2))
        let dueMs = try await eventually("it waits") { try await client.nextDueMs() }
        #expect(dueMs > 55_000)
        let record = try await client.finishedInHaste("quota")
        stage.expectDelivered(record, 1)
        #expect(record.counts.retries == 0, "that there were too many is no push's fault")
      }
    }
  }

  @Test("a push is given up as failed when its attempts are used up")
  func givesUp() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "ff", status: 503, reason: "ServiceUnavailable")]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<28))
      // So few that their trouble is never half of what is answered: no breaker opens.
      try await client.install(try Devices.apns(28..<30, prefix: "ff"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("never", 0..<30))
        let record = try await client.finishedInHaste("never")
        #expect(record.state == .done)
        #expect(record.counts.accepted == 28)
        #expect(record.counts.failed == 2)
        #expect(record.counts.retries == 2 * (Limits.attemptsMax - 1))
        #expect(record.isBalanced)
      }
      #expect(stage.simulator.counters.answers[503] == 2 * Limits.attemptsMax)
      #expect(try await client.devices("u29").count == 1)
    }
  }

  @Test("work past its expiry is dropped and counted, never sent")
  func dropsExpired() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<50))
      try await stage.withWorkers { _ in
        let pastMs = try await client.serverMs() - 1_000
        _ = try await client.enqueue(Devices.job("past", 0..<50, ", \"expires_at\": \(pastMs)"))
        let past = try await client.finished("past")
        #expect(past.counts.expired == 50)
        #expect(past.isBalanced)
        #expect(stage.simulator.counters.accepted == 0)
        // Tried in time, and then out of time for another attempt.
        stage.simulator.script = .stage {
          $0.all = ScriptRule(
            status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 30)
        }
        _ = try await client.enqueue(Devices.job("tried", 0..<50, #", "ttl_seconds": 20"#))
        let tried = try await client.finished("tried")
        #expect(tried.counts.expired == 50)
        #expect(tried.counts.retries == 0)
      }
    }
  }

  @Test("a push whose answer was lost is sent again, or given up when the job says so")
  func followsPolicyOnUnknown() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(1..<3))
      try await stage.withWorkers { _ in
        stage.simulator.script = .stage { $0.closeWithoutAnswerAfter = 1 }
        _ = try await client.enqueue(Devices.job("never", 1..<2, #", "on_unknown": "give_up""#))
        let never = try await client.finished("never")
        #expect(never.counts.failed == 1)
        #expect(never.counts.retries == 0)
        #expect(stage.simulator.counters.accepted == 1)
        // Each new connection loses its first answer until the provider recovers.
        _ = try await client.enqueue(Devices.job("always", 2..<3))
        try await stage.waitUntilAccepted(2)
        stage.simulator.script = .stage()
        let always = try await client.finishedInHaste("always")
        #expect(always.counts.accepted == 1)
        #expect(always.counts.retries >= 1)
        #expect(stage.duplicates >= 1)
      }
    }
  }

  @Test("a provider token that APNs refuses parks the work: nothing is lost, burned or uninstalled")
  func parksOnRefusedProviderToken() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .apns, status: 403, reason: "ExpiredProviderToken")
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      try await client.install(try Devices.fcm(100..<110))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("parked", 0..<100))
        _ = try await eventually("the work is parked") { try await client.nextDueMs() }
        // The other network is none of its business.
        _ = try await client.enqueue(Devices.job("fcm", 100..<110))
        #expect(try await client.finished("fcm", withinSeconds: 15).counts.accepted == 10)
        // One stream a connection until an answer is not a 403, and no hammering after the refusal: a few a lane and
        // connection tell that it is the credential. It is tried again after 1, 2, 4 and 8 s.
        #expect((stage.simulator.counters.answers[403] ?? 0) <= 5 * 36)
      }
      stage.simulator.script = .stage()
      try await stage.withWorkers { _ in
        let record = try await client.finishedInHaste("parked")
        #expect(record.counts.accepted == 100)
        #expect(record.counts.retries == 0)
        #expect(record.isBalanced)
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("a bad moment of APNs in which it refuses the provider token ends when it does")
  func outlastsRefusals() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<10))
        #expect(try await client.finished("before").counts.accepted == 10)
        stage.simulator.script = .stage {
          $0.all = ScriptRule(network: .apns, status: 403, reason: "InvalidProviderToken")
        }
        _ = try await client.enqueue(Devices.job("after", 10..<100))
        _ = try await eventually("the credential is given up") {
          try await client.alarms().first { $0.field.hasPrefix("credential") }
        }
        stage.simulator.script = .stage()
        let record = try await client.finished("after")
        #expect(record.counts.accepted == 90)
        #expect(record.counts.retries == 0)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("a bearer token that FCM refuses is renewed once, and no attempt is burned")
  func renewsRefusedBearerToken() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<10))
        _ = try await client.finished("before")
        #expect(stage.simulator.counters.bearerTokensIssued == 1)
        stage.simulator.script = .stage { $0.revokesBearerTokens = true }
        _ = try await client.enqueue(Devices.job("after", 10..<200))
        let record = try await client.finished("after")
        #expect(record.counts.accepted == 190)
        #expect(record.counts.retries == 0)
        #expect(stage.simulator.counters.bearerTokensIssued == 2)
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("what waits for a network that cannot be reached expires all the same")
  func expiresUnreached() async throws {
    let port = try FreePort.find()
    try await PushStage.with(
      endpoints: PushStage.Endpoints(apnsPort: port, hasFCM: false), mostlyWaits: true
    ) { stage in
      try await stage.client.install(try Devices.apns(0..<20))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(
          Devices.job("brief", 0..<20, ", \"ttl_seconds\": 2"))
        let record = try await stage.client.finished("brief")
        #expect(record.counts.expired == 20 && record.isBalanced)
      }
    }
  }
}
