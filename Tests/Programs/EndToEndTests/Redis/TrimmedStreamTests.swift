import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing

/// Workers and producers that do to the producers' streams what nobody is to do.
@Suite struct TrimmedStreamTests {
  private static let lastID = "18446744073709551615-18446744073709551615"

  @Test("what is trimmed while no worker runs is an alarm that says how much, and the rest is sent")
  func tellsOfTrimmed() async throws {
    try await PushStage.with(mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      let first = try stage.startProcess()
      _ = try await eventually("a worker has seen the streams") {
        try await client.command("HEXISTS", "pushpool:ledger", "gap:normal").integer == 1
          ? true : nil
      }
      #expect(await first.terminate(graceMs: 60_000) == .code(0))
      for number in 0..<100 {
        _ = try await client.command(
          "XADD", "pushpool:jobs:normal", "MAXLEN", "=", "10", "*", "job",
          Devices.job("sale-\(number)", number..<(number + 1)))
      }
      let second = try stage.startProcess()
      let alarm = try await eventually("the alarm") {
        try await client.alarms().first { $0.field == "trimmed|normal" }
      }
      #expect(alarm.message.hasPrefix("90 jobs were deleted from pushpool:jobs:normal"))
      for number in 90..<100 {
        #expect(try await client.finished("sale-\(number)").counts.accepted == 1)
      }
      #expect(stage.simulator.counters.accepted == 10)
      await second.terminate(graceMs: 60_000)
    }
  }

  @Test("a stream with the highest id is an alarm, and takes jobs again when nothing is left of it")
  func renewsExhausted() async throws {
    try await PushStage.with(
      endpoints: PushStage.Endpoints(moreApps: ["news"]), mostlyWaits: true
    ) { stage in
      let client = stage.client
      var reader = try Devices.apns(0)
      reader.app = "news"
      try await client.install([reader] + Devices.apns(1..<2))
      // What this worker lacks the app of stays in the stream.
      var lesser = stage.configuration
      lesser.apps.removeAll { $0.id == "news" }
      try await stage.withWorkers(of: lesser) { _ in
        _ = try await client.command(
          "XADD", "pushpool:jobs:low", Self.lastID, "job",
          Devices.job("last", 0..<1).replacing("\"shop\"", with: "\"news\""))
        let alarm = try await eventually("the alarm") {
          try await client.alarms().first { $0.field == "exhausted|low" }
        }
        #expect(alarm.message.contains("pushpool:jobs:low takes no more jobs"))
        await #expect(throws: RedisError.self) {
          try await client.enqueue(Devices.job("early", 1..<2), priority: .low)
        }
        try await stage.withWorkers { _ in
          #expect(try await client.finished("last", app: "news").counts.accepted == 1)
          _ = try await eventually("the alarm ends") {
            try await client.alarms().contains { $0.field == "exhausted|low" } ? nil : true
          }
          _ = try await client.enqueue(Devices.job("next", 1..<2), priority: .low)
          #expect(try await client.finished("next").counts.accepted == 1)
        }
      }
      #expect(stage.duplicates == 0)
    }
  }
}
