import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

@Suite struct UninstallTests {
  private static let farFutureMs: Int64 = 4_000_000_000_000

  @Test("INVALID_ARGUMENT uninstalls nothing, whatever it blames (fcm-django#223)")
  func keepsTokensOnInvalidArgument() async throws {
    let script = SimulatorScript.stage {
      var vague = ScriptRule(
        tokenPrefix: "vague", network: .fcm, status: 400, reason: "INVALID_ARGUMENT")
      var precise = vague
      precise.tokenPrefix = "precise"
      precise.fieldViolation = "message.token"
      vague.fieldViolation = nil
      $0.rules = [vague, precise]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<30, prefix: "vague"))
      try await client.install(try Devices.fcm(30..<60, prefix: "precise"))
      try await client.install(try Devices.fcm(60..<90))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("bad", 0..<90))
        let record = try await client.finished("bad")
        #expect(record.counts.rejected == 60)
        #expect(record.counts.accepted == 30)
        #expect(record.isBalanced)
      }
      for number in 0..<60 { #expect(try await client.devices("u\(number)").count == 1) }
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  /// Answers that say nothing about the token: none of them may remove it.
  private static let harmless: [ScriptRule] = {
    var rules: [ScriptRule] = [
      ScriptRule(tokenPrefix: "a0", status: 400, reason: "DeviceTokenNotForTopic"),
      ScriptRule(tokenPrefix: "a1", status: 400, reason: "TopicDisallowed"),
      ScriptRule(tokenPrefix: "a2", status: 400, reason: "BadTopic"),
      ScriptRule(tokenPrefix: "a3", status: 404, reason: "BadPath"),
      ScriptRule(tokenPrefix: "a4", status: 413, reason: "PayloadTooLarge"),
      ScriptRule(tokenPrefix: "a5", status: 429, reason: "TooManyRequests"),
      ScriptRule(tokenPrefix: "a6", status: 500, reason: "InternalServerError"),
      ScriptRule(tokenPrefix: "a7", status: 503, reason: "Shutdown"),
      ScriptRule(tokenPrefix: "a8", status: 410),
      ScriptRule(tokenPrefix: "a9", action: .reset),
      ScriptRule(tokenPrefix: "f0-", status: 403, reason: "SENDER_ID_MISMATCH"),
      ScriptRule(tokenPrefix: "f1-", status: 401, reason: "THIRD_PARTY_AUTH_ERROR"),
      ScriptRule(tokenPrefix: "f2-", status: 500, reason: "INTERNAL"),
      ScriptRule(tokenPrefix: "f3-", status: 503, reason: "UNAVAILABLE"),
      ScriptRule(tokenPrefix: "f4-", status: 429, reason: "QUOTA_EXCEEDED"),
    ]
    var relay = ScriptRule(tokenPrefix: "f5-", status: 404)
    relay.body = "<html>no such page</html>"
    rules.append(relay)
    return rules
  }()

  @Test("trouble of the provider or the configuration removes no installation (parse-server#4500)")
  func keepsTokensOnTrouble() async throws {
    try await PushStage.with(script: .stage { $0.rules = Self.harmless }) { stage in
      let client = stage.client
      var installations: [Installation] = []
      for (index, rule) in Self.harmless.enumerated() {
        let user = "u\(index)"
        installations.append(
          rule.tokenPrefix.hasPrefix("f")
            ? try Devices.fcm(index, user: user, prefix: String(rule.tokenPrefix.dropLast()))
            : try Devices.apns(index, user: user, prefix: rule.tokenPrefix))
      }
      try await client.install(installations)
      let count = Self.harmless.count
      try await stage.withWorkers { _ in
        // Without a time to live nothing is tried a second time.
        _ = try await client.enqueue(Devices.job("now", 0..<count, #", "ttl_seconds": 0"#))
        let record = try await client.finished("now")
        #expect(record.counts.rejected + record.counts.expired == count)
        #expect(record.counts.uninstalled == 0)
        #expect(record.isBalanced)
      }
      for index in 0..<count {
        let kept = try await client.devices("u\(index)").count
        #expect(kept == 1, "\(Self.harmless[index]) removed the installation")
      }
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("dead tokens are removed with an entry of their own, and not tried again (novu#12532)")
  func removesDeadTokens() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(
          tokenPrefix: "dd", status: 410, reason: "Unregistered", timestampMs: Self.farFutureMs),
        ScriptRule(tokenPrefix: "dead", network: .fcm, status: 404, reason: "UNREGISTERED"),
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<400))
      try await client.install(try Devices.apns(400..<440, prefix: "dd"))
      try await client.install(try Devices.fcm(440..<460, prefix: "dead"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<460))
        let first = try await client.finished("first")
        #expect(first.counts.accepted == 400)
        #expect(first.counts.uninstalled == 60)
        #expect(first.isBalanced)
        _ = try await client.enqueue(Devices.job("second", 0..<460))
        let second = try await client.finished("second")
        #expect(second.counts.accepted == 400)
        #expect(second.counts.noInstallations == 60)
      }
      let answers = stage.simulator.counters.answers
      #expect(answers[410] == 40)
      #expect(answers[404] == 20)
      let entries = try await client.entries("uninstalled")
      #expect(entries.count == 60)
      #expect(entries.count { $0["reason"] == "Unregistered" && $0["network"] == "apns" } == 40)
      #expect(entries.count { $0["reason"] == "UNREGISTERED" && $0["network"] == "fcm" } == 20)
      #expect(entries.allSatisfy { $0["job"] == "first" && $0["user"] != nil })
    }
  }

  @Test("a 410 older than the install removes nothing, a newer one does (uniqush, PyAPNs2#61)")
  func heedsTimeOf410() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install([
        try Devices.apns(1, prefix: "aa"), try Devices.apns(2, prefix: "bb"),
      ])
      let nowMs = try await client.serverMs()
      stage.simulator.script = .stage {
        $0.rules = [
          ScriptRule(
            tokenPrefix: "aa", status: 410, reason: "Unregistered", timestampMs: nowMs - 60_000),
          ScriptRule(
            tokenPrefix: "bb", status: 410, reason: "Unregistered", timestampMs: nowMs + 1_000),
        ]
      }
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("both", 1..<3))
        let record = try await client.finished("both")
        #expect(record.counts.rejected == 1)
        #expect(record.counts.uninstalled == 1)
        #expect(record.isBalanced)
      }
      #expect(try await client.devices("u1").count == 1)
      #expect(try await client.devices("u2").isEmpty)
      let entries = try await client.entries("uninstalled")
      #expect(entries.count == 1)
      #expect(entries.first?["user"] == "u2")
      #expect(entries.first?["provider_time"] == String(nowMs + 1_000))
    }
  }

  @Test("a verdict on a token installed again while the push was under way is ignored")
  func heedsGeneration() async throws {
    let script = SimulatorScript.stage {
      var slow = ScriptRule(tokenPrefix: "dead", network: .fcm, status: 404, reason: "UNREGISTERED")
      slow.delayMs = 2_000
      $0.rules = [slow]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      let device = try Devices.fcm(1, prefix: "dead")
      try await client.install([device])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("late", 1..<2))
        // The token exchange and the push.
        _ = try await eventually("the push is under way") {
          stage.simulator.counters.requests >= 2 ? true : nil
        }
        try await client.install([device])
        let record = try await client.finished("late")
        #expect(record.counts.uninstalled == 0)
        #expect(record.counts.rejected == 1)
      }
      #expect(try await client.devices("u1").count == 1)
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("nothing reaches a device for its former owner (parse-server-push-adapter#40)")
  func sparesFormerOwner() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 100 }
    try await PushStage.with(script: script, worker: .narrow(15)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<450))
      let moved = try (400..<450).map { try Devices.apns($0, user: "buyer") }
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("slow", 0..<450))
        try await stage.waitUntilAccepted(30)
        // All of them are queued in the lane by now.
        try await client.install(moved)
        let movedAtMs = try await client.serverMs()
        let record = try await client.finished("slow")
        let tokens = Set(moved.map(\.token.text))
        let late = stage.simulator.acceptedPushes.filter {
          tokens.contains($0.token) && $0.acceptedAtMs > movedAtMs + 1_000
        }
        #expect(late.isEmpty)
        #expect(record.counts.skipped == 50)
        #expect(record.counts.accepted == 400)
        #expect(record.isBalanced)
      }
    }
  }

  @Test("what waits for a retry is not sent to a former owner, nor after an uninstall")
  func sparesFormerOwnerOnRetry() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 60)
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("later", 0..<3))
        _ = try await eventually("the job waits for its retry") { try await client.nextDueMs() }
        stage.simulator.script = .stage()
        let moved = try Devices.apns(0, user: "buyer")
        try await client.install([moved])
        try await client.uninstall(try Devices.apns(1).token)
        let record = try await client.finishedInHaste("later")
        #expect(record.counts.skipped == 2)
        #expect(record.counts.accepted == 1)
        #expect(record.isBalanced)
        let token = try Devices.apns(2).token.text
        #expect(stage.simulator.acceptedPushes.map(\.token) == [token])
      }
    }
  }

  @Test("a few bad tokens are removed")
  func removesFewBadTokens() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "bad", status: 400, reason: "BadDeviceToken")]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<500))
      try await client.install(try Devices.apns(500..<505, prefix: "bad"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("few", 0..<505))
        let record = try await client.finished("few")
        #expect(record.counts.uninstalled == 5)
        #expect(record.counts.accepted == 500)
      }
    }
  }

  @Test(
    "tokens that do not fit the topic are a mass death too, and then even a 410 removes nothing")
  func sparesAllOnMassDeath() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "bad", status: 400, reason: "DeviceTokenNotForTopic"),
        ScriptRule(
          tokenPrefix: "dead", status: 410, reason: "Unregistered",
          timestampMs: Self.farFutureMs),
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<120, prefix: "bad"))
      try await client.install(try Devices.apns(120..<122, prefix: "dead"))
      // Some are accepted: were none, the app's pushes would be held.
      try await client.install(
        try (0..<60).map { try Devices.apns(200 + $0, user: "u\(2 * $0)-good") })
      try await stage.withWorkers(2) { _ in
        // Two, lest a minute ends within the one.
        for first in [0, 60] {
          let users = (first..<first + 60).flatMap {
            $0 % 2 == 0 ? ["u\($0)", "u\($0)-good"] : ["u\($0)"]
          }
          _ = try await client.enqueue(Devices.job("wrong\(first)", users: users))
          #expect(try await client.finished("wrong\(first)").counts.rejected == 60)
        }
        _ = try await client.enqueue(Devices.job("dead", 120..<122))
        #expect(try await client.finished("dead").counts.rejected == 2)
      }
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("BadDeviceToken for everybody is a mistake of ours and removes nothing")
  func survivesMassDeath() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "bad", status: 400, reason: "BadDeviceToken")]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_000, prefix: "bad"))
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Devices.job("wrong", 0..<1_000))
        let record = try await client.finished("wrong")
        #expect(record.counts.uninstalled == 0)
        #expect(record.counts.rejected == 1_000)
        #expect(record.isBalanced)
        #expect(
          try await client.alarms().map(\.field) == ["mass_death|shop|apns|production"])
      }
      #expect(try await client.length("uninstalled") == 0)
    }
  }
}
