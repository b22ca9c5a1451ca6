import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

/// A network refuses every push alike: because the app is set up wrongly, or because of what a job says.
@Suite struct SetupTests {
  /// What a lane may lose to it, and some that were under way.
  private static let lostMax = 50

  @Test(
    "an app that is set up wrongly loses some tens of pushes, and the others go out once it is mended",
    arguments: [
      ("apns", 400, "TopicDisallowed"), ("apns", 400, "BadTopic"), ("apns", 400, "MissingTopic"),
      ("apns", 400, "DeviceTokenNotForTopic"), ("fcm", 403, "SENDER_ID_MISMATCH"),
      ("fcm", 401, "THIRD_PARTY_AUTH_ERROR"),
    ])
  func holds(network: String, status: Int, reason: String) async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(
        network: Network(rawValue: network), status: status, reason: reason)
    }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(
        network == "apns" ? try Devices.apns(0..<2_000) : try Devices.fcm(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("campaign", 0..<2_000))
        let alarm = try await eventually("an alarm is raised") {
          try await client.alarms().first { $0.field.hasPrefix("setup|shop|\(network)|") }
        }
        #expect(alarm.message.contains(reason))
        let first = stage.simulator.counters.answers[status] ?? 0
        _ = try await eventually("it is tried again by itself") {
          stage.simulator.counters.answers[status] ?? 0 > first + 2 ? true : nil
        }
        let during = try #require(try await client.record("campaign"))
        #expect(during.counts.rejected <= Self.lostMax)
        #expect(during.counts.retries == 0 && during.counts.uninstalled == 0)
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("campaign", withinSeconds: 120)
        #expect(record.counts.rejected <= Self.lostMax)
        #expect(record.counts.accepted == 2_000 - record.counts.rejected)
        #expect(record.isBalanced)
        _ = try await eventually("the alarm ends") {
          try await client.alarms().contains { $0.field.hasPrefix("setup|") } ? nil : true
        }
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test(
    "a job of which an app lacks the set-up waits alone, and goes out once it is mended",
    arguments: [true, false])
  func holdsTheJob(isProven: Bool) async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "bad", status: 400, reason: "TopicDisallowed")]
    }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(
        try (0..<2_000).map { try Devices.apns($0, prefix: $0 < 1_000 ? "bad" : "") })
      try await stage.withWorkers { _ in
        if isProven {
          _ = try await client.enqueue(Devices.job("first", 1_000..<1_050))
          #expect(try await client.finished("first").counts.accepted == 50)
        }
        _ = try await client.enqueue(Devices.job("calls", 0..<1_000))
        let alarm = try await eventually("an alarm is raised") {
          try await client.alarms().first { $0.field.hasPrefix("setup|shop|apns|") }
        }
        #expect(alarm.message.contains("TopicDisallowed"))
        _ = try await client.enqueue(Devices.job("alerts-0", 1_000..<2_000))
        #expect(try await client.finished("alerts-0").counts.accepted == 1_000)
        let refused = stage.simulator.counters.answers[400] ?? 0
        for job in 1..<6 {
          _ = try await client.enqueue(Devices.job("alerts-\(job)", 1_000..<2_000))
          #expect(try await client.finished("alerts-\(job)").counts.accepted == 1_000)
        }
        // Accepts of other jobs are no reason to try more of it.
        #expect(stage.simulator.counters.answers[400] ?? 0 <= refused + Self.lostMax)
        let waiting = try #require(try await client.record("calls"))
        #expect(waiting.counts.rejected <= Self.lostMax && waiting.counts.accepted == 0)
        #expect(waiting.pending >= 1_000 - Self.lostMax)
        _ = try await eventually("the alarm names the job that waits") {
          try await client.alarms().first { $0.message.contains("push of job calls") }
        }
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("calls", withinSeconds: 120)
        #expect(record.counts.accepted == 1_000 - record.counts.rejected && record.isBalanced)
        _ = try await eventually("the alarm ends") {
          try await client.alarms().contains { $0.field.hasPrefix("setup|") } ? nil : true
        }
      }
    }
  }

  @Test("a job that waits for its app to be set up rightly can be cancelled")
  func cancels() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .apns, status: 400, reason: "TopicDisallowed")
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<500))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("campaign", 0..<500))
        _ = try await eventually("an alarm is raised") {
          try await client.alarms().first { $0.field.hasPrefix("setup|") }
        }
        _ = try await client.cancel("campaign")
        let record = try await eventually("nothing of it is left") {
          try await client.hurry()
          let record = try await client.record("campaign")
          return record?.pending == 0 ? record : nil
        }
        #expect(record.state == .cancelled)
        #expect(record.counts.skipped >= 500 - Self.lostMax)
        #expect(record.isBalanced)
      }
    }
  }

  @Test("tokens of another app among good ones are rejected one by one, and hold nobody up")
  func mixed() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "bad", status: 400, reason: "DeviceTokenNotForTopic")]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(
        try (0..<400).map { try Devices.apns($0, prefix: $0 % 2 == 0 ? "bad" : "") })
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("mixed", 0..<400))
        let record = try await client.finished("mixed")
        #expect(record.counts.rejected == 200 && record.counts.accepted == 200)
      }
    }
  }

  @Test("content that FCM refuses from every device is refused for the job, after few requests")
  func content() async throws {
    var rule = ScriptRule(network: .fcm, status: 400, reason: "INVALID_ARGUMENT")
    rule.fieldViolation = "message.android.notification.color"
    let script = SimulatorScript.stage { $0.all = rule }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("bad", 0..<2_000))
        let record = try await client.finished("bad")
        #expect(record.counts.rejected == 2_000)
        #expect(stage.simulator.counters.answers[400] ?? 0 <= 100)
        #expect(try await client.alarms().isEmpty)
        // Another job of the same app is none of its business.
        stage.simulator.script = .stage()
        _ = try await client.enqueue(Devices.job("good", 0..<2_000))
        #expect(try await client.finished("good").counts.accepted == 2_000)
      }
    }
  }
}
