import LocalServices
import Model
import Redis
import Simulator
import Testing

@Suite struct LostContentTests {
  @Test(
    "a job whose content Redis has lost or that cannot be read ends as failed, with dead letters",
    arguments: [
      (replacement: nil, reason: "content_missing"),
      (replacement: "{\"notification\":", reason: "content_unreadable"),
    ])
  func buries(replacement: String?, reason: String) async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(status: 429, reason: "TooManyRequests", retryAfterSeconds: 600)
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("lost", 0..<3))
        _ = try await eventually("it waits to be tried again") { try await client.nextDueMs() }
      }
      let key = "pushpool:content:shop:lost"
      if let replacement {
        _ = try await client.command("SET", key, replacement)
      } else {
        _ = try await client.command("DEL", key)
      }
      // Others, who have not read it before.
      try await stage.withWorkers { _ in
        let record = try await client.finishedInHaste("lost")
        #expect(record.state == .done)
        #expect(record.counts.failed == 3)
        #expect(record.isBalanced)
        let letters = try await client.entries("dead")
        #expect(letters.map { $0["reason"] } == [reason])
        #expect(letters.map { $0["count"] } == ["3"])
        #expect(letters.first?["message"]?.contains("content") == true)
      }
      #expect(stage.simulator.counters.accepted == 0)
    }
  }

  @Test(
    "a job whose record cannot be read ends as a dead letter, and another job does not wait for it")
  func damagedRecord() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(status: 429, reason: "TooManyRequests", retryAfterSeconds: 600)
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("damaged", 0..<3))
        _ = try await eventually("it waits to be tried again") { try await client.nextDueMs() }
      }
      _ = try await client.command("HSET", "pushpool:job:shop:damaged", "created_at", "never")
      _ = try await client.command(
        "XADD", "pushpool:jobs:normal", "*", "job", Devices.job("sound", 5..<6))
      // Others, who have not read it before.
      try await stage.withWorkers { _ in
        try await client.hurry()
        let sound = try await client.finished("sound")
        #expect(sound.counts.noInstallations == 1)
        let letters = try await eventually("the damaged one is a dead letter") {
          let letters = try await client.entries("dead")
          return letters.isEmpty ? nil : letters
        }
        #expect(letters.map { $0["reason"] } == ["record_unreadable"])
        #expect(letters.map { $0["count"] } == ["3"])
        #expect(letters.first?["message"]?.contains("created_at") == true)
      }
    }
  }
}
