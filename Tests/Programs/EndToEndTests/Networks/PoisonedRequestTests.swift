import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing

/// Requests that a network takes for a breach of HTTP/2 (row 20 of the fault matrix).
@Suite struct PoisonedRequestTests {
  private static let poison = "bad0"
  private static let protocolError: UInt32 = 1

  private static func script(
    _ action: ScriptRule.Action, code: UInt32 = protocolError
  ) -> SimulatorScript {
    var rule = ScriptRule(tokenPrefix: poison, action: action)
    rule.resetCode = code
    return SimulatorScript.stage { $0.rules = [rule] }
  }

  private static let actions: [ScriptRule.Action] = [.reset, .goAway]

  @Test(
    "one push that the network calls malformed is rejected, and the others of its job are sent",
    arguments: actions)
  func rejectsOnePush(action: ScriptRule.Action) async throws {
    try await PushStage.with(script: Self.script(action)) { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<1, prefix: Self.poison) + Devices.apns(1..<200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<200))
        // When nothing else is answered after its first complaint, it is tried apart with all of its attempts.
        let record = try await client.finishedInHaste("sale", withinSeconds: 240)
        #expect(record.counts.rejected == 1)
        #expect(record.counts.accepted == 199)
        #expect(record.isBalanced)
        #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 199)
        #expect(try await client.alarms().isEmpty)
      }
    }
  }

  @Test("a push to JPush whose stream is reset each time ends, and the others are sent")
  func endsOnJPush() async throws {
    var script = Self.script(.reset)
    script.rules[0].network = .jpush
    try await PushStage.with(script: script, endpoints: PushStage.Endpoints(hasJPush: true)) {
      stage in
      let client = stage.client
      try await client.install(
        try Devices.jpush(0..<1, prefix: Self.poison) + Devices.jpush(1..<200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("poisoned", 0..<1))
        for job in 0..<3 {
          _ = try await client.enqueue(Devices.job("good-\(job)", 1..<200))
          let good = try await client.finishedInHaste("good-\(job)")
          #expect(good.counts.accepted == 199, "\(good.counts)")
        }
        let record = try await client.finishedInHaste("poisoned", withinSeconds: 240)
        #expect(record.counts.accepted == 0 && record.isBalanced)
        #expect(stage.simulator.counters.resets <= 100)
      }
    }
  }

  @Test(
    "a job whose every request is malformed is rejected, and keeps no other job waiting",
    arguments: actions)
  func rejectsOneJob(action: ScriptRule.Action) async throws {
    try await PushStage.with(script: Self.script(action)) { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<500, prefix: Self.poison) + Devices.apns(500..<800))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("poisoned", 0..<500))
        _ = try await eventually("the network sees it") {
          stage.simulator.counters.requests >= 1 ? true : nil
        }
        // No retry is hurried: nothing but the poison could keep it.
        _ = try await client.enqueue(Devices.job("good", 500..<800))
        let good = try await client.finished("good")
        #expect(good.counts.accepted == 300)
        let poisoned = try await client.finishedInHaste("poisoned")
        #expect(poisoned.counts.rejected == 500)
        #expect(poisoned.isBalanced)
        // A few are tried; the others need not be.
        let resets = stage.simulator.counters.resets + stage.simulator.counters.goAways
        #expect(resets < 500)
        #expect(try await client.alarms().isEmpty)
      }
    }
  }

  @Test(
    "a push that was tried before is not rejected at the first word that it is malformed",
    arguments: actions)
  func waitsForASecondWord(action: ScriptRule.Action) async throws {
    var script = Self.script(action)
    script.rules[0].times = 1
    // The try before: its own answer, which is no word about its form.
    script.rules.insert(ScriptRule(tokenPrefix: Self.poison, status: 503, times: 1), at: 0)
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<1, prefix: Self.poison) + Devices.apns(1..<20))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<20))
        let record = try await client.finishedInHaste("sale")
        #expect(record.counts.accepted == 20)
        #expect(record.isBalanced)
        let unprocessed = stage.simulator.counters.resets + stage.simulator.counters.goAways
        #expect(unprocessed == 1)
      }
    }
  }

  @Test("pushes to a network with a rate that were on a connection it closed do not stand")
  func drawsForThoseApart() async throws {
    var rule = ScriptRule(action: .goAway, times: 1)
    rule.resetCode = Self.protocolError
    try await PushStage.with(script: .stage { $0.delayMs = 50 }, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<600))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<100))
        stage.expectDelivered(try await client.finished("before"), 100)
        stage.simulator.script = .stage {
          $0.delayMs = 50
          $0.rules = [rule]
        }
        _ = try await client.enqueue(Devices.job("sale", 100..<600))
        // Far less than how long a job is tried apart.
        let record = try await client.finishedInHaste("sale", withinSeconds: 45)
        #expect(record.counts.accepted == 500 && record.isBalanced)
        #expect(stage.simulator.counters.goAways == 1)
      }
    }
  }

  @Test("a relay that resets all streams for a moment costs a good job nothing")
  func survivesABurst() async throws {
    var rule = ScriptRule(action: .reset, times: 150)
    rule.resetCode = Self.protocolError
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<600))
      try await stage.withWorkers { _ in
        // The network has answered just now.
        _ = try await client.enqueue(Devices.job("before", 0..<100))
        stage.expectDelivered(try await client.finished("before"), 100)
        stage.simulator.script = .stage { $0.all = rule }
        _ = try await client.enqueue(Devices.job("sale", 100..<600))
        let record = try await client.finishedInHaste("sale")
        #expect(record.counts.accepted == 500)
        #expect(record.counts.rejected == 0)
        #expect(record.isBalanced)
      }
    }
  }

  @Test(
    "pushes whose streams alone the network refuses wait longer each time, and no other push does")
  func slowsDownAFew() async throws {
    try await PushStage.with(script: Self.script(.reset, code: 7)) { stage in
      let client = stage.client
      let refused = 5
      try await client.install(
        try Devices.apns(0..<refused, prefix: Self.poison) + Devices.apns(refused..<505))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<505))
        _ = try await eventually("all others are sent, and these wait in Redis") {
          let record = try await client.record("sale")
          let waiting = try await client.command("ZCARD", "pushpool:delayed").integer ?? 0
          return record?.counts.accepted == 500 && waiting > 0 ? true : nil
        }
        // The first sending, one at once, and those that came due meanwhile.
        #expect(stage.simulator.counters.resets <= refused * 6)
        _ = try await client.cancel("sale")
      }
    }
  }

  @Test("streams that the network refuses again and again are sent no faster, and are an alarm")
  func slowsDown() async throws {
    var refusal = ScriptRule(action: .reset, times: 260)
    refusal.resetCode = 7
    try await PushStage.with(script: SimulatorScript.stage { $0.all = refusal }) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<200))
        let alarm = try await eventually("the alarm") { try await client.alarms().first }
        #expect(alarm.field == "breaker|shop|apns|production")
        #expect(alarm.message.contains("REFUSED_STREAM"))
        stage.expectDelivered(try await client.finishedInHaste("sale"), 200)
      }
    }
  }
}
