import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

/// Kill switches, thrown by a plain Redis client.
@Suite struct SwitchTests {
  private static func off(_ field: String, _ client: StageClient) async throws -> Int64 {
    _ = try await client.command("HSET", "pushpool:switches", field, "a test")
    return try await client.serverMs()
  }

  private static func on(_ field: String, _ client: StageClient) async throws {
    #expect(try await client.command("HDEL", "pushpool:switches", field).integer == 1)
  }

  /// Waits until the server's clock shows it.
  private static func wait(until ms: Int64, _ client: StageClient) async throws {
    _ = try await eventually("it is \(ms)") { try await client.serverMs() >= ms ? true : nil }
  }

  @Test(
    "an app that is switched off while it sends rests within a second, and goes on when it is on")
  func stopsRunningApp() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 100 }
    try await PushStage.with(
      script: script, worker: .narrow(20), configure: { Self.addOther(&$0) }
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_500))
      try await client.install([try Self.other(9_999)])
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<1_500))
        try await stage.waitUntilAccepted(200)
        let offMs = try await Self.off("app|shop", client)
        try await Self.wait(until: offMs + 1_000, client)
        // Whatever waits in the way of another app, its job passes.
        _ = try await client.enqueue(
          Devices.job("free", 9_999..<10_000).replacing("\"shop\"", with: "\"other\""))
        let free = try await client.finished("free", app: "other")
        #expect(free.counts.accepted == 1)
        try await Self.wait(until: offMs + PushStage.promptMs + 1_000, client)
        let late = stage.simulator.acceptedPushes.filter {
          $0.acceptedAtMs > offMs + PushStage.promptMs && !$0.token.hasPrefix("bb")
        }
        #expect(late.isEmpty)
        let resting = try #require(try await client.record("sale"))
        #expect(resting.isBalanced && resting.pending > 0 && resting.counts.retries == 0)
        #expect(try await client.claimedChunks() == 0)
        let traces = try await client.entries("trace:shop:sale")
        let events = traces.flatMap { ($0["lines"] ?? "").split(separator: "\n") }
        let handedBack = events.filter { $0.contains("\tdeferred\tswitched_off\t") }
        #expect(!handedBack.isEmpty && handedBack.count <= 24)
        try await Self.on("app|shop", client)
        let onMs = try await client.serverMs()
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 1_500 && record.total == 1_500 && record.isBalanced)
        #expect(record.counts.retries == 0)
        let first = stage.simulator.acceptedPushes.map(\.acceptedAtMs).filter { $0 >= onMs }.min()
        // What is not woken waits for at least 20 s.
        #expect(try #require(first) - onMs < 15_000)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("what is enqueued while its app is off waits, and still expires")
  func holdsQueuedApp() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<600))
      let offMs = try await Self.off("app|shop", client)
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("later", 0..<600))
        _ = try await client.enqueue(Devices.job("old", 0..<300, ", \"ttl_seconds\": 2"))
        let old = try await client.finished("old")
        #expect(old.counts.expired == 300 && old.counts.retries == 0)
        #expect(try await client.serverMs() > offMs + 2_000)
        #expect(stage.simulator.counters.accepted == 0)
        try await Self.on("app|shop", client)
        // What is not woken waits for at least 20 s.
        let record = try await client.finished("later", withinSeconds: 18)
        stage.expectDelivered(record, 600)
      }
    }
  }

  @Test("a network that is switched off holds only its own pushes")
  func stopsNetwork() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_000))
      try await client.install(try Devices.fcm(0..<1_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("both", 0..<1_000))
        _ = try await eventually("both networks accept") {
          let accepted = stage.simulator.acceptedPushes.map(\.network)
          return accepted.contains(.fcm) && accepted.contains(.apns) ? true : nil
        }
        let offMs = try await Self.off("network|shop|fcm", client)
        func accepted(_ network: Network) -> [AcceptedPush] {
          stage.simulator.acceptedPushes.filter { $0.network == network }
        }
        _ = try await eventually("APNs has all") { accepted(.apns).count == 1_000 ? true : nil }
        try await Self.wait(until: offMs + PushStage.promptMs + 1_000, client)
        #expect(accepted(.fcm).allSatisfy { $0.acceptedAtMs <= offMs + PushStage.promptMs })
        #expect(accepted(.fcm).count < 1_000)
        try await Self.on("network|shop|fcm", client)
        let record = try await client.finished("both", withinSeconds: 18)
        stage.expectDelivered(record, 2_000)
        #expect(record.counts.retries == 0)
      }
    }
  }

  @Test("a user who is switched off gets nothing until switched on, and everybody else does")
  func stopsUser() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<50))
      try await client.install([try Devices.fcm(7)])
      _ = try await Self.off("user|shop|u7", client)
      _ = try await Self.off("pager|shop|u7", client)
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("news", 0..<50))
        try await stage.waitUntilAccepted(49)
        let dueMs = try await eventually("the user's part is set aside") {
          try await client.nextDueMs()
        }
        // From 20 s on, of which some may have passed.
        #expect((15_000...30_500).contains(dueMs))
        let record = try await eventually("the others' part is settled") {
          let record = try await client.record("news")
          return record?.counts.accepted == 49 ? record : nil
        }
        #expect(record.pending == 2 && record.isBalanced)
        // Due too early it is set aside once more.
        try await client.hurry()
        _ = try await eventually("it is set aside again") {
          let dueMs = try await client.nextDueMs()
          return (dueMs ?? 0) > 15_000 ? true : nil
        }
        #expect(stage.simulator.counters.accepted == 49)
        try await Self.on("user|shop|u7", client)
        let done = try await client.finishedInHaste("news")
        stage.expectDelivered(done, 51)
        #expect(done.counts.retries == 0)
      }
      #expect(try await client.devices("u7").count == 2)
    }
  }

  static func addOther(_ configuration: inout Configuration) {
    var other = configuration.apps[0]
    other.id = "other"
    other.pushesPerSecond = nil
    configuration.apps.append(other)
  }

  /// A device of the app "other", with a token that begins with bb.
  static func other(_ number: Int) throws -> Installation {
    var installation = try Devices.apns(number, prefix: "bb")
    installation.app = "other"
    return installation
  }
}
