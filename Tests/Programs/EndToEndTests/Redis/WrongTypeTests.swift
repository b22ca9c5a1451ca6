import LocalServices
import Model
import Redis
import Simulator
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

  @Test(
    "a worker that starts while the switches cannot be read sends nothing, and goes on when they can"
  )
  func standsStill() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<301))
      _ = try await client.command("SET", "pushpool:switches", "wrong")
      try await stage.withWorkers(2) { _ in
        // One that is sent from its entry, and one that has chunks.
        _ = try await client.enqueue(Devices.job("small", 300..<301))
        _ = try await client.enqueue(Devices.job("large", 0..<300))
        let alarm = try await eventually("the alarm") {
          try await client.alarms().first { $0.field == "wrong_type|switches" }
        }
        #expect(alarm.message.contains("sends nothing"), "\(alarm.message)")
        _ = try await eventually("the jobs are taken in") {
          let records = [try await client.record("small"), try await client.record("large")]
          return records.contains { $0 == nil } ? nil : true
        }
        // Long enough for all to be sent: both workers have beaten five times more.
        let beats = try await client.serverMs() + 5_000
        _ = try await eventually("they go on beating") {
          try await client.command("ZCOUNT", "pushpool:workers", "\(beats)", "+inf").integer == 2
            ? true : nil
        }
        #expect(stage.simulator.counters.requests == 0)
        _ = try await client.command("DEL", "pushpool:switches")
        _ = try await client.command("HSET", "pushpool:switches", "app|other", "a test")
        for (id, count) in [("small", 1), ("large", 300)] {
          #expect(try await client.finished(id).counts.accepted == count)
        }
        _ = try await eventually("the alarm ends") {
          try await client.alarms().contains { $0.field == "wrong_type|switches" } ? nil : true
        }
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("a worker that does not know what is off leaves small jobs to one that does")
  func leavesJobsToOthers() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<41))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 40..<41))
        #expect(try await client.finished("before").counts.accepted == 1)
        _ = try await client.command("SET", "pushpool:switches", "wrong")
        try await stage.withWorkers { _ in
          for number in 0..<40 {
            _ = try await client.enqueue(Devices.job("j\(number)", number..<(number + 1)))
          }
          for number in 0..<40 {
            #expect(try await client.finished("j\(number)").counts.accepted == 1)
          }
        }
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("a worker that knows what is off keeps to it while the switches cannot be read")
  func keepsToWhatItKnows() async throws {
    try await PushStage.with(endpoints: PushStage.Endpoints(moreApps: ["news"])) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2))
      _ = try await client.command("HSET", "pushpool:switches", "app|news", "a test")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<1))
        #expect(try await client.finished("before").counts.accepted == 1)
        _ = try await client.command("DEL", "pushpool:switches")
        _ = try await client.command("SET", "pushpool:switches", "wrong")
        _ = try await eventually("the alarm") {
          try await client.alarms().first { $0.field == "wrong_type|switches" }
        }
        _ = try await client.enqueue(Devices.job("during", 1..<2))
        #expect(try await client.finished("during").counts.accepted == 1)
      }
    }
  }
}
