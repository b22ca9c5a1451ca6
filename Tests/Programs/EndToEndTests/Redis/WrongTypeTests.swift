import Model
import Redis
import Store
import Testing

@testable import Worker

/// Something writes under the keys that all work needs.
@Suite struct WrongTypeTests {
  private static let keys = [
    "jobs:normal", "ready:normal", "chunks:normal", "chunks:high", "delayed", "finished", "open",
  ]

  @Test(
    "jobs go on within seconds although the keys of the work are overwritten, and each is an alarm")
  func goesOn() async throws {
    try await PushStage.with { stage in
      // More users than are sent from an entry: these jobs have chunks.
      try await stage.client.install(Devices.apns(0..<300))
      try await stage.withWorkers { _ in
        for (number, key) in Self.keys.enumerated() {
          _ = try await stage.client.command("SET", "pushpool:\(key)", "wrong")
          let alarm = try await eventually("the alarm about \(key)") {
            try await stage.client.alarms().first { $0.field == "wrong_type|\(key)" }
          }
          #expect(alarm.message.contains("pushpool:displaced:\(key)"), "\(alarm.message)")
          _ = try await stage.client.enqueue(Devices.job("j\(number)", 0..<300))
          let record = try await stage.client.finished("j\(number)")
          #expect(record.counts.accepted == 300, "\(key): \(record)")
        }
      }
    }
  }
}
