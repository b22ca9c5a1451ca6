import LocalServices
import Model
import Redis
import Simulator
import Testing

/// Asks the built program what happened.
@Suite struct TraceTests {
  private static let plain = 3

  /// One object of `pushpool trace --json`.
  private func trace(_ stage: PushStage, _ job: String, _ more: String...) async throws
    -> JSONObject
  {
    let child = try ChildProcess(
      PushStage.programFolder + "/pushpool",
      ["trace", "--app", "shop", "--job", job, "--json", "--redis", stage.redis.url] + more,
      folder: "/", output: .pipe, error: .discard)
    #expect(await child.waitForExit(timeoutMs: 60_000) == .code(0))
    let output = await child.standardOutput?.rest(timeoutMs: 60_000) ?? ""
    return try #require(try JSONParser().parse(output).objectValue)
  }

  /// What the events of a trace say: attempt, answer, decision.
  private func events(_ trace: JSONObject) -> [String] {
    (trace["events"]?.arrayValue ?? []).compactMap(\.objectValue).map { event in
      ["attempt", "what", "status", "reason", "decision", "cause"]
        .compactMap { name in
          event[name].map { $0.stringValue ?? "\($0.int64Value ?? -1)" }
        }.joined(separator: " ")
    }
  }

  private func codes(_ trace: JSONObject) -> [String] {
    (trace["conclusions"]?.arrayValue ?? []).compactMap { $0.objectValue?["code"]?.stringValue }
  }

  private func text(_ trace: JSONObject) -> String {
    trace["conclusions"]?.arrayValue?.first?.objectValue?["text"]?.stringValue ?? ""
  }

  @Test(
    "each user's and token's attempts, answers and decisions are told, and what no record means")
  func tellsWhatHappened() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "aa", status: 503, reason: "ServiceUnavailable", times: 1),
        ScriptRule(
          tokenPrefix: "dd", status: 410, reason: "Unregistered", timestampMs: 4_000_000_000_000),
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      let again = try Devices.apns(1, prefix: "aa")
      let dead = try Devices.apns(2, prefix: "dd")
      let plain = try Devices.apns(Self.plain)
      try await client.install([again, dead, plain])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("asked", 1..<5))
        _ = try await client.finished("asked")
        _ = try await client.enqueue(Devices.job("all", 3..<4, #", "trace": true"#))
        _ = try await client.finished("all")
        // The plain ones are there when the record says that the job is done.
        #expect(
          try await events(trace(stage, "all", "--user", "u3")) == [
            "1 sent", "1 answered 200 accepted",
          ])
      }

      let retried = ["1 answered 503 ServiceUnavailable retry", "2 answered 200 accepted"]
      for more in [["--user", "u1"], ["--token", again.token.text.uppercased()]] {
        let trace = try await trace(stage, "asked", more[0], more[1])
        #expect(events(trace) == retried)
        #expect(codes(trace) == ["accepted"])
        #expect(text(trace).contains("at attempt 2"))
      }
      let uninstalled = [
        "1 answered 410 Unregistered uninstall", "settled Unregistered uninstalled",
      ]
      for more in [["--user", "u2"], ["--token", dead.token.text]] {
        let trace = try await trace(stage, "asked", more[0], more[1])
        #expect(events(trace) == uninstalled)
        #expect(codes(trace) == ["uninstalled"])
      }
      for more in [["--user", "u3"], ["--token", plain.token.text]] {
        let trace = try await trace(stage, "asked", more[0], more[1])
        #expect(events(trace) == [])
        #expect(codes(trace) == ["accepted_if_meant"])
        #expect(text(trace).contains("no attempt of this token was recorded"))
        #expect(trace["complete"] == .bool(true))
      }
      let nobody = try await trace(stage, "asked", "--user", "u4")
      #expect(events(nobody) == ["decided skipped no_installation"])
      #expect(codes(nobody) == ["skipped"])
      // Somebody whom the job was not for.
      #expect(codes(try await trace(stage, "asked", "--user", "u99")) == ["no_record"])
      #expect(codes(try await trace(stage, "all", "--user", "u1")) == ["not_sent"])

      let summary = try await trace(stage, "asked", "--limit", "2")
      #expect(events(summary).count == 2)
      #expect(summary["matched"]?.int64Value == 5)
      #expect(summary["unexplained"]?.int64Value == 0)
      #expect(summary["counts"]?.arrayValue?.count == 5)
    }
  }

  @Test("of a push that expired after it was sent it is told how often it was, and what came of it")
  func tellsOfAttemptsBeforeExpiry() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "aa", status: 503, reason: "ServiceUnavailable")]
    }
    try await PushStage.with(script: script, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1, prefix: "aa")])
      let lifeMs: Int64 = 5_000
      let startMs = try await client.serverMs()
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Devices.job("late", 1..<2, #", "ttl_seconds": \#(lifeMs / 1_000)"#))
        _ = try await eventually("it was answered") {
          stage.simulator.counters.requests >= 1 ? true : nil
        }
      }
      _ = try await eventually("it has expired") {
        try await client.serverMs() > startMs + lifeMs + 1_000 ? true : nil
      }
      try await stage.withWorkers { _ in
        let record = try await client.finishedInHaste("late")
        #expect(record.counts.expired == 1)
      }
      let text = text(try await trace(stage, "late", "--user", "u1"))
      #expect(text.contains("the job had expired before attempt"))
      #expect(!text.contains("before it was sent"))
      #expect(text.contains("it was sent"))
      #expect(text.contains("503 ServiceUnavailable"))
    }
  }

  @Test("a job that waits because its app or user is switched off is told to")
  func tellsOfSwitches() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      for field in ["app|shop", "user|shop|u1", "user|shop|u2"] {
        _ = try await client.command("HSET", "pushpool:switches", field, "a test")
      }
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("held", 0..<3))
        _ = try await eventually("the job is admitted") { try await client.record("held") }
        let text = text(try await trace(stage, "held", "--user", "u1"))
        #expect(text.contains("app shop is switched off; user u1 of app shop is switched off"))
        #expect(!text.contains("u2"))
        _ = try await client.command("DEL", "pushpool:switches")
        _ = try await client.finished("held")
        #expect(!self.text(try await trace(stage, "held", "--user", "u1")).contains("switched"))
      }
    }
  }

  @Test("plain accepts put nothing into Redis for a trace")
  func plainAcceptsAreFree() async throws {
    try await PushStage.with(script: .stage()) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<600))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("plain", 0..<600))
        _ = try await client.finished("plain")
      }
      let keys = try await client.command("KEYS", "pushpool:trace:*").array
      #expect(keys?.isEmpty == true)
    }
  }

  @Test("a cancelled job explains who was skipped, and admits what it cannot")
  func explainsCancelled() async throws {
    try await PushStage.with(script: .stage { $0.delayMs = 1_500 }) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_200))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("stopped", 0..<1_200))
        try await eventuallySent(stage)
        _ = try await client.cancel("stopped")
        _ = try await eventually("something is skipped on record") {
          let summary = try await trace(stage, "stopped")
          let counts = summary["counts"]?.arrayValue ?? []
          return counts.contains { $0.objectValue?["cause"]?.stringValue == "cancelled" }
            ? true : nil
        }
      }
    }
  }

  private func eventuallySent(_ stage: PushStage) async throws {
    _ = try await eventually("something is sent") {
      stage.simulator.counters.requests > 0 ? true : nil
    }
  }
}
