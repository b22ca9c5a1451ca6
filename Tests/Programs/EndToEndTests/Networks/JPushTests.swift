import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

/// The third network, beside the other two.
@Suite struct JPushTests {
  private static let three = PushStage.Endpoints(hasJPush: true)

  @Test("a campaign reaches every device on all three networks exactly once")
  func delivers() async throws {
    try await PushStage.with(endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<200))
      try await client.install(try Devices.fcm(200..<300))
      try await client.install(try Devices.jpush(300..<500))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("all", 0..<500))
        stage.expectDelivered(try await client.finished("all"), 500)
      }
      let networks = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.network)
      #expect(networks.mapValues(\.count) == [.apns: 200, .fcm: 100, .jpush: 200])
    }
  }

  @Test("JPush is asked for the environment of APNs that each installation has")
  func environments() async throws {
    try await PushStage.with(endpoints: Self.three) { stage in
      var device = try Devices.jpush(2)
      device.environment = .development
      try await stage.client.install([try Devices.jpush(1), device])
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("both", 1..<3))
        #expect(try await stage.client.finished("both").counts.accepted == 2)
      }
      let topics = Dictionary(
        stage.simulator.acceptedPushes.map { ($0.token, $0.topic) }, uniquingKeysWith: { $1 })
      #expect(topics == ["140fe1da01": "production", "140fe1da02": "development"])
    }
  }

  @Test("many devices share a request, and each counts")
  func batches() async throws {
    try await PushStage.with(endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<1_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("many", 0..<1_000))
        stage.expectDelivered(try await client.finished("many"), 1_000)
      }
      #expect(stage.simulator.counters.requests < 100)
    }
  }

  @Test("devices that are gone are uninstalled when JPush knows none of a request")
  func uninstallsGone() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "gone", network: .jpush, status: 400, reason: "1011")]
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<3, prefix: "gone"))
      try await client.install([try Devices.jpush(3)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("gone", 0..<3))
        let gone = try await client.finished("gone")
        #expect(gone.counts.uninstalled == 3)
        #expect(gone.isBalanced)
        _ = try await client.enqueue(Devices.job("all", 0..<4))
        #expect(try await client.finished("all").counts.accepted == 1)
      }
      let uninstalled = try await client.entries("uninstalled")
      #expect(uninstalled.count == 3)
      #expect(uninstalled.allSatisfy { $0["reason"] == "1011 no such target" })
    }
  }

  @Test("an ID that JPush calls invalid is found among others, which get their pushes")
  func uninstallsInvalid() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "bad", network: .jpush, status: 400, reason: "1003")]
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<3, prefix: "bad"))
      try await client.install(try Devices.jpush(3..<80))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("some", 0..<80))
        let record = try await client.finished("some")
        #expect(record.counts.uninstalled == 3)
        #expect(record.counts.accepted == 77)
        #expect(record.isBalanced)
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.devices("u1").isEmpty)
      #expect(try await client.devices("u3").count == 1)
      let uninstalled = try await client.entries("uninstalled")
      #expect(uninstalled.allSatisfy { $0["reason"] == "1003 registration ID is invalid" })
    }
  }

  @Test("a request whose answer was lost is repeated, and JPush delivers it once")
  func repeats() async throws {
    let script = SimulatorScript.stage { $0.closeWithoutAnswerAfter = 1 }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<50))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("lost", 0..<50))
        try await stage.waitUntilAccepted(50)
        stage.simulator.script = SimulatorScript()
        stage.expectDelivered(try await client.finishedInHaste("lost"), 50)
      }
    }
  }

  @Test("a worker that dies before it has settled repeats the request, and JPush delivers it once")
  func repeatsAfterCrash() async throws {
    try await PushStage.with(
      worker: .narrow(100, leaseSeconds: 1), endpoints: Self.three, mostlyWaits: true
    ) { stage in
      let client = stage.client
      // As many as are resolved at once: who repeats the request puts the same ones into it, however late. A job with a time is
      // always a chunk.
      try await client.install(try Devices.jpush(0..<50))
      _ = try await client.enqueue(Devices.job("crash", 0..<50, #", "deliver_at": 1700000000000"#))
      let process = try stage.startProcess(crashAt: "before settle:1")
      #expect(await process.waitForExit(timeoutMs: 60_000) == .signal(SIGKILL))
      #expect(stage.simulator.counters.accepted > 0)
      let requests = stage.simulator.counters.requests
      try await stage.withWorkers { _ in
        stage.expectDelivered(try await client.finishedInHaste("crash"), 50)
      }
      // It was asked again, all the same.
      #expect(stage.simulator.counters.requests > requests)
    }
  }

  @Test("the app key of another app, which knows none of the IDs, removes nothing")
  func massDeath() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .jpush, status: 400, reason: "1011")
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<100))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("none", 0..<100))
        let record = try await client.finished("none")
        #expect(record.counts.rejected == 100)
        #expect(record.isBalanced)
      }
      #expect(try await client.devices("u1").count == 1)
      #expect(try await client.length("uninstalled") == 0)
      #expect(try await client.alarms().map(\.field) == ["mass_death|shop|jpush|production"])
    }
  }

  @Test("a wrong master secret stops JPush alone, with an alarm, and no attempt is lost")
  func wrongSecret() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("wrong.secret")
    try PrivateFile.write("5e987ac6d2e04d95a9d8f0d1\n", to: file)
    try await PushStage.with(
      endpoints: Self.three, configure: { $0.apps[0].jpush?.masterSecretFile = file }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<20))
      try await client.install(try Devices.jpush(20..<40))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("jpush", 20..<40))
        _ = try await eventually("the alarm is raised") {
          try await client.alarms().first { $0.field == "credential|shop|jpush|production" }
        }
        _ = try await client.enqueue(Devices.job("apns", 0..<20))
        #expect(try await client.finished("apns").counts.accepted == 20)
        let record = try #require(try await client.record("jpush"))
        #expect(record.pending == 20)
        #expect(record.counts.retries == 0)
      }
      #expect(stage.simulator.counters.accepted == 20)
    }
  }

  @Test("a dry run is checked by JPush and delivered to nobody")
  func dryRun() async throws {
    try await PushStage.with(endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install(try Devices.jpush(0..<5))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("dry", 0..<5, #", "dry_run": true"#))
        #expect(try await client.finished("dry").counts.accepted == 5)
      }
      #expect(stage.simulator.counters.accepted == 0)
      #expect(stage.simulator.counters.dryRuns == 5)
    }
  }

  @Test("an app that may not have its requests checked sends all the same")
  func dryRunRefused() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .jpush, status: 403, reason: "2007", times: 1)
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install([try Devices.jpush(1)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("dry", 1..<2, #", "dry_run": true"#))
        #expect(try await client.finished("dry").counts.rejected == 1)
        _ = try await client.enqueue(Devices.job("real", 1..<2))
        stage.expectDelivered(try await client.finished("real"), 1)
      }
      #expect(try await client.alarms().isEmpty)
    }
  }

  @Test("a quota that is used up is waited for as long as JPush says")
  func waitsForQuota() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(
        network: .jpush, status: 429, reason: "2002", retryAfterSeconds: 30, times: 1)
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install([try Devices.jpush(1)])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("quota", 1..<2))
        let dueMs = try await eventually("it waits") { try await client.nextDueMs() }
        #expect(dueMs > 25_000)
        #expect(dueMs < 32_000)
        stage.expectDelivered(try await client.finishedInHaste("quota"), 1)
      }
    }
  }

  @Test("a job over JPush's limits is refused before any device is tried, with size and limit")
  func refusesSize() async throws {
    try await PushStage.with(endpoints: Self.three) { stage in
      let client = stage.client
      try await client.install([try Devices.jpush(1)])
      try await stage.withWorkers { _ in
        let text = String(repeating: "x", count: 2_500)
        _ = try await client.enqueue(
          Devices.job("large", 1..<2, #", "jpush": {"notification": {"alert": "\#(text)"}}"#))
        _ = try await client.finished("large")
        _ = try await client.enqueue(
          Devices.job(
            "larger", 1..<2, #", "jpush": {"notification": {"ios": {"alert": "\#(text)"}}}"#))
        let letter = try await eventually("it is a dead letter") {
          try await client.entries("dead").first
        }
        #expect(letter["field"] == "/jpush")
        #expect(letter["message"]?.contains("2,000 are allowed") == true, "\(letter)")
      }
    }
  }
}
