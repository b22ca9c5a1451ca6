import Glibc
import LocalServices
import Model
import Providers
import Redis
import Simulator
import Store
import Testing

/// Worker processes whose clocks are not Redis's.
@Suite struct ClockTests {
  @Test(
    "a worker whose clock is wrong sends everything in its time, and says how wrong its clock is",
    arguments: [-3_600, 1_200, 3_600])
  func wrongClock(aheadSeconds: Int) async throws {
    try await PushStage.with(script: .stage(), worker: .narrow(50)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<150))
      try await client.install(try Devices.fcm(150..<300))
      let shift = try ClockShift(file: stage.folder.file("clock"))
      try shift.set(realtimeMs: Int64(aheadSeconds) * 1_000)
      let process = try stage.startProcess(environment: shift.environment)
      _ = try await client.enqueue(Devices.job("soon", 0..<300, #","ttl_seconds":900"#))
      let record = try await client.finished("soon")
      stage.expectDelivered(record, 300)
      // Nothing that it signed was refused.
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
      #expect(stage.simulator.counters.bearerTokensIssued == 1)
      let alarm = try await eventually("an alarm tells of the clock") {
        try await client.alarms().first { $0.field.hasPrefix("clock|") }
      }
      #expect(
        alarm.message.contains("\(abs(aheadSeconds)) s \(aheadSeconds > 0 ? "ahead" : "beh")"))
      let log = TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 20) ?? ""
      #expect(log.contains(alarm.message))
      #expect(!log.contains("refused"))
      // The clock is set while the worker runs.
      try shift.set()
      _ = try await eventually("the alarm ends") { try await client.alarms().isEmpty ? true : nil }
      process.signal(SIGTERM)
      #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
    }
  }

  @Test("a token that a worker with a fast clock has shared pauses nobody")
  func sharedFutureToken() async throws {
    try await PushStage.with(script: .stage(), worker: .narrow(50)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      let signing = try SigningKey(file: stage.keyFile, algorithm: .es256)
      let key = "pushpool:credential:apns:DEF123GHIJ:ABC123DEFG:\(signing.digest)"
      let nowMs = Int64(time(nil)) * 1_000
      _ = try await client.command("SET", key, "\(nowMs + 1_200_000) ey.of.the-future")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<100))
        stage.expectDelivered(try await client.finished("sale"), 100)
      }
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
    }
  }

  @Test(
    "whatever stands under a credential's key, workers start and send",
    arguments: [
      "9223372036854775807 x", "-9223372036854775808 x", "9223372036854775807 x 3600000", "0 x",
      "{}", "5  x", "253402300799999 x 86400000",
    ])
  func strayCredential(text: String) async throws {
    // The token that was overwritten cannot be had again, so another one follows at once.
    let script = SimulatorScript.stage { $0.providerTokenIntervalSeconds = 0 }
    try await PushStage.with(script: script, worker: .narrow(50)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<20))
      try await client.install(try Devices.fcm(20..<40))
      // Both are learnt from a first fleet, and then overwritten.
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<40))
        stage.expectDelivered(try await client.finished("first"), 40)
      }
      let keys = try await client.command("KEYS", "pushpool:credential:*").array ?? []
      for key in keys {
        _ = try await client.command("SET", try #require(key.string), text)
        _ = try await client.command("SET", try #require(key.string) + ":turn", text)
      }
      #expect(keys.count >= 2)
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("second", 0..<40))
        let record = try await client.finished("second")
        #expect(record.counts.accepted == 40)
      }
    }
  }

  @Test("what a suspended worker had ready to send is not sent to former owners")
  func suspended() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_500))
      let shift = try ClockShift(file: stage.folder.file("clock"))
      let process = try stage.startProcess(environment: shift.environment)
      _ = try await client.enqueue(Devices.job("sale", 0..<1_500))
      try await stage.waitUntilAccepted(100)
      let clock = ContinuousClock()
      process.signal(SIGSTOP)
      let stopped = clock.now
      let accepted = try await stage.acceptedWhenQuiet()
      try await client.install(try (0..<1_500).map { try Devices.apns($0, user: "new\($0)") })
      // In suspend one clock stands still and the other goes on.
      let stoodMs = Int64((clock.now - stopped) / .milliseconds(1))
      try shift.set(monotonicMs: -stoodMs, boottimeMs: 3_600_000)
      process.signal(SIGCONT)
      let record = try await client.finished("sale")
      #expect(record.isBalanced)
      #expect(record.counts.noInstallations > 0)
      #expect(stage.simulator.counters.accepted == accepted)
      process.signal(SIGTERM)
      #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
    }
  }
}

extension PushStage {
  /// How many pushes are accepted when the one worker is stopped and what it had sent is answered.
  fileprivate func acceptedWhenQuiet() async throws -> Int {
    var last = -1
    var same = 0
    // A round trip to Redis between two looks; answers take 50 ms.
    return try await eventually("the networks have answered everything") {
      let now = simulator.counters.accepted
      same = now == last ? same + 1 : 0
      last = now
      _ = try await client.command("BLPOP", "nothing", "0.1")
      return same >= 3 ? now : nil
    }
  }
}
