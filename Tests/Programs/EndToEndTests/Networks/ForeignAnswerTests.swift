import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

/// What stands before a network answers in its place: a captive portal, a gateway, a proxy.
@Suite struct ForeignAnswerTests {
  private static let page = "<html><body>\u{1b}[31mPlease log in</body></html>"
  private static let three = PushStage.Endpoints(hasJPush: true)

  /// - Parameter type: without one the page calls itself JSON.
  private static func gateway(
    _ status: Int, _ network: Network? = nil, type: String? = nil
  ) -> ScriptRule {
    var rule = ScriptRule(network: network, status: status)
    rule.body = page
    rule.contentType = type
    return rule
  }

  @Test(
    "a page in place of a network's answer accepts, rejects and removes nothing, and all is sent once it is gone",
    arguments: [200, 302, 400, 404, 410])
  func page(status: Int) async throws {
    let script = SimulatorScript.stage { $0.all = Self.gateway(status, type: "text/html") }
    try await PushStage.with(script: script, endpoints: Self.three, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<300) + Devices.fcm(300..<600) + Devices.jpush(600..<900))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("portal", 0..<900))
        for field in ["apns|production", "fcm|all", "jpush|production"] {
          let alarm = try await eventually("an alarm of \(field)") {
            try await client.alarms().first { $0.field.hasSuffix("|shop|\(field)") }
          }
          #expect(alarm.message.contains("status \(status) that is not"))
          #expect(alarm.message.contains("text/html"))
          #expect(alarm.message.contains("<html><body>"))
          #expect(!alarm.message.contains("\u{1b}"))
        }
        let during = try #require(try await client.record("portal"))
        #expect(during.counts.accepted + during.counts.rejected + during.counts.failed == 0)
        #expect(during.counts.uninstalled == 0)
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("portal", withinSeconds: 120)
        stage.expectDelivered(record, 900)
        _ = try await eventually("the alarms end") {
          try await client.alarms().isEmpty ? true : nil
        }
      }
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("a single push outlasts a gateway that answers for its network, however often it is tried")
  func single() async throws {
    let script = SimulatorScript.stage { $0.all = Self.gateway(404, .fcm) }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<1))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("one", 0..<1))
        let alarm = try await eventually("an alarm is raised") {
          try await client.alarms().first
        }
        #expect(alarm.field == "foreign_answers|shop|fcm|all")
        _ = try await eventually("it is tried more often than a push may be") {
          try await client.hurry()
          let answers = stage.simulator.counters.answers[404] ?? 0
          return answers > Limits.attemptsMax + 2 ? true : nil
        }
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("one")
        #expect(record.counts.accepted == 1)
        #expect(record.counts.retries <= 1)
      }
    }
  }

  @Test("one page among a hundred answers costs one attempt of one push")
  func rare() async throws {
    let script = SimulatorScript.stage {
      var rule = Self.gateway(200)
      rule.probability = 0.01
      $0.all = rule
      $0.seed = 47
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_000) + Devices.fcm(1_000..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("mostly", 0..<2_000))
        stage.expectDelivered(try await client.finishedInHaste("mostly"), 2_000)
      }
    }
  }
}
