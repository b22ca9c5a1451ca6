import LocalServices
import Model
import Simulator
import Testing

/// Jobs that are sent at a pace of their own.
@Suite struct PaceTests {
  @Test("a job keeps to its pace with several workers, and another of the app is not held up")
  func keepsPace() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<800))
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(
          Devices.job("slow", 0..<600, #", "pushes_per_second": 200"#))
        _ = try await eventually("the first of it are sent") {
          stage.simulator.acceptedPushes.isEmpty ? nil : true
        }
        _ = try await client.enqueue(Devices.job("quick", 600..<800))
        let quick = try await client.finished("quick")
        #expect(quick.counts.accepted == 200)
        let standing = try #require(try await client.record("slow"))
        #expect(standing.state == .running, "it takes 3 s, and the quick one was done before")
        let slow = try await client.finished("slow")
        #expect(slow.counts.accepted == 600 && slow.isBalanced)
        let ms = try #require(slow.finishedAtMs) - (try #require(slow.startedAtMs))
        // A quarter of a second's pushes may come at once.
        #expect(ms >= 2_700, "600 pushes in \(ms) ms")
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("a job is spread over its time, with users of several devices")
  func spreads() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100) + Devices.fcm(0..<100))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("spread", 0..<100, #", "spread_over_seconds": 3"#))
        let record = try await client.finished("spread")
        #expect(record.counts.accepted == 200 && record.isBalanced)
        let ms = try #require(record.finishedAtMs) - (try #require(record.startedAtMs))
        #expect(ms >= 2_000)
      }
    }
  }

  @Test("what has expired waits for no pace")
  func expires() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<400))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Devices.job("slow", 0..<400, #", "pushes_per_second": 2, "ttl_seconds": 2"#))
        let record = try await client.finished("slow")
        #expect(record.counts.expired > 380 && record.isBalanced)
        let ms = try #require(record.finishedAtMs) - (try #require(record.startedAtMs))
        #expect(ms < 100_000, "at its pace it would take 200 s")
      }
    }
  }

  @Test("the pace of a job that runs can be changed by the command line")
  func changes() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("slow", 0..<300, #", "pushes_per_second": 1"#))
        _ = try await eventually("the first of it are sent") {
          stage.simulator.acceptedPushes.isEmpty ? nil : true
        }
        let shown = try await stage.pushpool("job", "slow", "pace", "100000", "--app", "shop")
        #expect(shown.exit == .code(0) && shown.output.contains("at most 100,000 a second"))
        let record = try await client.finished("slow")
        #expect(record.counts.accepted == 300)
        let late = try await stage.pushpool("job", "slow", "pace", "off", "--app", "shop")
        #expect(late.exit == .code(65) && late.error.contains("nothing of it is left"))
      }
      for value in ["0", "many", "1.5"] {
        let refused = try await stage.pushpool("job", "slow", "pace", value, "--app", "shop")
        #expect(refused.exit == .code(64))
      }
      let refused = try await stage.pushpool("job", "slow", "pause", "5", "--app", "shop")
      #expect(refused.exit == .code(64) && refused.error.contains("pause takes no value"))
    }
  }
}
