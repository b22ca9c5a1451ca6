import LocalServices
import Logging
import Model
import PushpoolConfiguration
import Reactor
import Redis
import Simulator
import Testing
import Worker

/// Jobs to single users, which workers send from their entries.
@Suite struct DirectJobTests {
  private static func enqueue(_ ids: [String], _ client: StageClient) async throws {
    for (number, id) in ids.enumerated() {
      _ = try await client.enqueue(Devices.job(id, number..<number + 1))
    }
  }

  @Test("each of many jobs is sent once, ends once, and leaves nothing but its record")
  func sendsAll() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300))
      let ids = (0..<300).map { "event-\($0)" }
      try await Self.enqueue(ids, client)
      try await stage.withWorkers(2) { _ in
        for id in ids {
          let record = try await client.finished(id)
          #expect(record.counts.accepted == 1 && record.isBalanced && record.isAdmitted)
          #expect(record.startedAtMs != nil && record.createdAtMs != nil)
        }
      }
      #expect(stage.duplicates == 0 && stage.simulator.counters.accepted == 300)
      for stream in ["pushpool:jobs:normal", "pushpool:chunks:normal"] {
        #expect(try await client.command("XLEN", stream).integer == 0)
      }
      #expect(try await client.command("EXISTS", "pushpool:open").integer == 0)
      #expect(try await client.command("XLEN", "pushpool:finished").integer == 300)
      #expect(try await client.command("KEYS", "pushpool:segment:*").array?.isEmpty == true)
    }
  }

  @Test("each of many jobs is sent once and ends once where Redis is far away")
  func sendsAllFarAway() async throws {
    try await PushStage.with { stage in
      let proxy = try FaultProxy(server: .unix(path: stage.redis.socketPath), seed: 1)
      await proxy.set(.delay(ms: 2...2))
      var far = stage.configuration
      far.redis.url = try RedisURL("redis://127.0.0.1:\(proxy.port)")
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      let ids = (0..<1_000).map { "event-\($0)" }
      try await Self.enqueue(ids, client)
      _ = try await client.enqueue(Devices.job("sale", 1_000..<2_000))
      var log = Logger(label: "pushpool.test")
      log.logLevel = .critical
      let worker = try WorkerService(configuration: far, logger: log)
      async let isOver: Void = try worker.run()
      // What fails below would wait for its end.
      defer { worker.stop() }
      for id in ids {
        let record = try await client.finished(id)
        #expect(record.counts.accepted == 1 && record.isBalanced)
      }
      let sale = try await client.finished("sale")
      #expect(sale.counts.accepted == 1_000 && sale.isBalanced)
      #expect(stage.simulator.counters.accepted == 2_000)
      #expect(stage.duplicates == 0)
      worker.stop()
      try await isOver
      await proxy.close()
    }
  }

  @Test("jobs whose worker dies while it sends them are sent by another", .timeLimit(.minutes(2)))
  func survivesDeath() async throws {
    try await PushStage.with(
      script: .slow, worker: .narrow(20, leaseSeconds: 5), mostlyWaits: true
    ) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<400))
      let ids = (0..<400).map { "event-\($0)" }
      try await Self.enqueue(ids, client)
      let victim = try stage.startProcess()
      try await stage.waitUntilAccepted(100)
      await victim.kill()
      let other = try stage.startProcess()
      for id in ids {
        let record = try await client.finished(id)
        #expect(record.counts.accepted == 1 && record.isBalanced)
      }
      // What it had in hand, each with one device.
      #expect(stage.duplicates <= 128)
      await other.kill()
    }
  }

  @Test("a job that the network refuses for now, or whose token is dead, ends as any other")
  func endsOtherwise() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "dd", status: 410, reason: "Unregistered"),
        ScriptRule(tokenPrefix: "ee", status: 400, reason: "BadMessageId"),
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install([
        try Devices.apns(0), try Devices.apns(1, prefix: "dd"), try Devices.apns(2, prefix: "ee"),
      ])
      try await stage.withWorkers { _ in
        let ids = ["good", "dead", "bad", "nobody"]
        try await Self.enqueue(ids, client)
        #expect(try await client.finished("good").counts.accepted == 1)
        let dead = try await client.finished("dead")
        #expect(dead.counts.uninstalled == 1 && dead.isBalanced)
        #expect(try await client.devices("u1").isEmpty)
        let bad = try await client.finished("bad")
        #expect(bad.counts.rejected == 1 && bad.isBalanced)
        let nobody = try await client.finished("nobody")
        #expect(nobody.counts.noInstallations == 1 && nobody.total == 0 && nobody.isBalanced)
      }
    }
  }
}
