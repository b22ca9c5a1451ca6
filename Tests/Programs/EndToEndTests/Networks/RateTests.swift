import Foundation
import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Testing

@Suite struct RateTests {
  private static let worker = WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 10)

  /// The most that was accepted within a second. Of a limit it may be more than that: a machine that stops for a
  /// moment sends and accepts afterwards what it held, so limits are asked for with half as much again.
  private static func peak(_ accepted: [AcceptedPush]) -> Int {
    let times = accepted.map(\.acceptedAtMs).sorted()
    var (most, first) = (0, 0)
    for (last, time) in times.enumerated() {
      while time - times[first] >= 1_000 { first += 1 }
      most = max(most, last - first + 1)
    }
    return most
  }

  @Test("what FCM refuses as too many a second comes back, and is no attempt")
  func learnsRate() async throws {
    let script = SimulatorScript.stage { $0.fcmRequestsPerSecond = 400 }
    try await PushStage.with(script: script, worker: Self.worker) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<4_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("many", 0..<1_000))
        let record = try await client.finishedInHaste("many")
        #expect(record.counts.accepted == 1_000 && record.isBalanced)
        #expect(record.counts.retries == 0)
        #expect(try await client.alarms().isEmpty)
        // If nothing were learned, most of each further job would be refused. A machine that stops
        // for a moment brings the network too much at once: so there are four tries.
        var refused: [Int] = []
        for first in stride(from: 1_000, to: 4_000, by: 750) {
          let before = stage.simulator.counters.answers[429] ?? 0
          _ = try await client.enqueue(Devices.job("more-\(first)", first..<first + 750))
          #expect(try await client.finishedInHaste("more-\(first)").counts.accepted == 750)
          refused.append((stage.simulator.counters.answers[429] ?? 0) - before)
          if refused.contains(where: { $0 < 190 }) { break }
        }
        #expect(refused.contains { $0 < 190 }, "of 750 each were refused: \(refused)")
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("two workers together keep an app to its rate, and another app passes")
  func keepsAppRate() async throws {
    try await PushStage.with(
      worker: Self.worker,
      configure: {
        SwitchTests.addOther(&$0)
        $0.apps[0].pushesPerSecond = 500
      }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      try await client.install(try (0..<300).map { try SwitchTests.other($0) })
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Devices.job("limited", 0..<2_000))
        try await stage.waitUntilAccepted(300)
        _ = try await client.enqueue(
          Devices.job("free", 0..<300).replacing("\"shop\"", with: "\"other\""))
        let free = try await client.finished("free", app: "other")
        #expect(free.counts.accepted == 300)
        let record = try await client.finished("limited")
        #expect(record.counts.accepted == 2_000 && record.isBalanced)
        #expect(record.counts.retries == 0)
      }
      let limited = stage.simulator.acceptedPushes.filter { !$0.token.hasPrefix("bb") }
      #expect(limited.count == 2_000 && stage.duplicates == 0)
      // A tenth of a second's in the bucket, and what two lanes had leased and not sent.
      #expect(Self.peak(limited) <= (500 + 50 + 2 * 25) * 3 / 2)
      let times = limited.map(\.acceptedAtMs)
      let tookMs = try #require(times.max()) - (try #require(times.min()))
      #expect(tookMs >= 3_000, "\(tookMs) ms")
      let lastFree = stage.simulator.acceptedPushes.filter { $0.token.hasPrefix("bb") }.map(
        \.acceptedAtMs
      ).max()
      #expect(try #require(lastFree) < #require(times.max()))
    }
  }

  @Test("FCM's quota holds no push to APNs up, and costs no attempt")
  func keepsProjectQuota() async throws {
    try await PushStage.with(
      worker: Self.worker,
      configure: { $0.apps[0].fcm?.messagesPerMinute = 6_000 }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<600))
      try await client.install(try Devices.fcm(0..<600))
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Devices.job("both", 0..<600))
        let apnsDone = try await eventually("APNs has all") {
          let accepted = stage.simulator.acceptedPushes.filter { $0.network == .apns }
          return accepted.count == 600 ? accepted.map(\.acceptedAtMs).max() : nil
        }
        let record = try await client.finished("both")
        stage.expectDelivered(record, 1_200)
        #expect(record.counts.retries == 0)
        let fcm = stage.simulator.acceptedPushes.filter { $0.network == .fcm }
        #expect(fcm.count { $0.acceptedAtMs < apnsDone } < 300)
        #expect(Self.peak(fcm) <= (100 + 10 + 2 * 5) * 3 / 2)
      }
    }
  }

  @Test("what an urgent job sends goes before what waits for the same rate")
  func prefersHighPriority() async throws {
    try await PushStage.with(
      worker: Self.worker, configure: { $0.apps[0].pushesPerSecond = 200 }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      try await client.install(try Devices.apns(5_000..<5_050))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("bulk", 0..<2_000), priority: .low)
        try await stage.waitUntilAccepted(100)
        _ = try await client.enqueue(Devices.job("urgent", 5_000..<5_050), priority: .high)
        // What waits before it takes 9 s.
        let urgent = try await client.finished("urgent", withinSeconds: 6)
        #expect(urgent.counts.accepted == 50 && urgent.counts.retries == 0)
        _ = try await client.cancel("bulk")
        _ = try await client.finished("bulk")
      }
    }
  }

  @Test("many small jobs that wait for a rate leave places on the lane for another app")
  func leavesPlaces() async throws {
    try await PushStage.with(
      worker: Self.worker,
      configure: {
        SwitchTests.addOther(&$0)
        $0.apps[0].pushesPerSecond = 5
      }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      try await client.install(try (0..<100).map { try SwitchTests.other($0) })
      try await stage.withWorkers { _ in
        for number in 0..<100 {
          _ = try await client.enqueue(Devices.job("small-\(number)", number..<number + 1))
        }
        try await stage.waitUntilAccepted(3)
        _ = try await client.enqueue(
          Devices.job("free", 0..<100).replacing("\"shop\"", with: "\"other\""))
        // What waits before it takes 20 s.
        let free = try await client.finished("free", app: "other", withinSeconds: 12)
        #expect(free.counts.accepted == 100)
        // And the rate is used meanwhile.
        try await stage.waitUntilAccepted(100 + 20)
        let limited = stage.simulator.acceptedPushes.filter { !$0.token.hasPrefix("bb") }
        #expect(Self.peak(limited) <= (5 + 1 + 1) * 3 / 2)
        let times = limited.map(\.acceptedAtMs)
        let tookMs = try #require(times.max()) - (try #require(times.min()))
        #expect(tookMs < Int64(limited.count) * 2 * 200, "at half the rate")
      }
    }
  }

  @Test("without Redis nothing is sent at a rate, and with it the rest is")
  func waitsForRedis() async throws {
    try await PushStage.with(
      worker: Self.worker, configure: { $0.apps[0].pushesPerSecond = 300 }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<900))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<900))
        try await stage.waitUntilAccepted(200)
        let beforeMs = try await client.serverMs()
        // Every client is cut off and no command answered for two seconds.
        _ = try await client.command("CLIENT", "PAUSE", "2000", "ALL")
        let pausedAtMs = Int64(Date().timeIntervalSince1970 * 1_000)
        let afterMs = try await client.serverMs()
        #expect(afterMs - beforeMs >= 1_900)
        // What was leased before the pause is sent.
        let inPause = stage.simulator.acceptedPushes.filter {
          $0.acceptedAtMs >= pausedAtMs + 700 && $0.acceptedAtMs < beforeMs + 2_000
        }
        #expect(inPause.isEmpty)
        let record = try await client.finished("sale")
        stage.expectDelivered(record, 900)
      }
    }
  }
}
