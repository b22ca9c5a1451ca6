import LocalServices
import Logging
import Model
import PushpoolConfiguration
import Reactor
import Redis
import Simulator
import Testing
import Worker

/// Leases where Redis is to be had for moments only (row 5 of the fault matrix).
@Suite struct LeaseTests {
  /// Four times the longest pause between two connections to Redis, so that a heartbeat fits into each lease.
  private static let leaseSeconds = 4

  @Test("a lane whose connections to Redis live for moments only loses no lease to another")
  func keepsLease() async throws {
    // No answer before several leases have passed, but for the first one, before which APNs takes one request at
    // a time: only heartbeats can renew them.
    var slow = ScriptRule()
    slow.tokenPrefix = "c0"
    slow.delayMs = 15_000
    let script = SimulatorScript.stage { $0.rules = [slow] }
    let worker = WorkerConfiguration.narrow(
      50, leaseSeconds: Self.leaseSeconds, requestTimeoutSeconds: 60)
    try await PushStage.with(script: script, worker: worker, mostlyWaits: true) { stage in
      let proxy = try FaultProxy(server: .unix(path: stage.redis.socketPath), seed: 1)
      try await stage.client.install(
        try Devices.apns(0..<1) + Devices.apns(1..<20, prefix: "c0"))
      var troubled = stage.configuration
      troubled.redis.url = try RedisURL("redis://127.0.0.1:\(proxy.port)")
      var log = Logger(label: "pushpool.test")
      log.logLevel = .critical
      let holder = try WorkerService(configuration: troubled, logger: log)
      async let isOver: Void = try holder.run()
      // What fails below would wait for its end.
      defer { holder.stop() }
      _ = try await stage.client.enqueue(Devices.job("held", 0..<20))
      _ = try await eventually("its pushes are under way") {
        try await stage.client.claimedChunks() == 1 && stage.simulator.counters.requests >= 20
          ? true : nil
      }
      try await stage.withWorkers { _ in
        // The greeting takes two or three reads: each connection ends with the first or second reply after it.
        await proxy.set(.resetMidReply(afterReads: 4...4))
        let sinceMs = try await stage.client.serverMs()
        _ = try await eventually("three leases pass") {
          try await stage.client.serverMs() > sinceMs + Int64(Self.leaseSeconds) * 3_000
            ? true : nil
        }
        await proxy.set(.none)
        stage.expectDelivered(try await stage.client.finished("held"), 20)
      }
      #expect(await proxy.breaks > 3)
      holder.stop()
      try await isOver
      await proxy.close()
    }
  }

  @Test("of the chunks that workers were lost with more than once a process carries one at a time")
  func keepsPoisonApart() async throws {
    var slow = ScriptRule()
    slow.tokenPrefix = "c0"
    slow.delayMs = 5_000
    var lessSlow = ScriptRule()
    lessSlow.delayMs = 2_500
    let script = SimulatorScript.stage { $0.rules = [slow, lessSlow] }
    // Until its first answer a connection takes one request: each chunk has one to go to.
    let worker = WorkerConfiguration(
      lanes: 2, connectionsPerLane: 2, drainSeconds: 5, leaseSeconds: 2)
    try await PushStage.with(script: script, worker: worker, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(
        try Devices.apns(0..<1, prefix: "c0") + Devices.apns(1..<2))
      let victim = try stage.startProcess()
      _ = try await client.enqueue(Devices.job("poison", 0..<1))
      _ = try await client.enqueue(Devices.job("bystander", 1..<2))
      _ = try await eventually("both are in its hands") {
        try await client.claimedChunks() == 2 ? true : nil
      }
      await victim.kill()
      // As if two more workers had been lost with them.
      let stream = "pushpool:chunks:normal"
      let chunks = try #require(
        try await client.command("XRANGE", stream, "-", "+").array?.compactMap {
          $0.array?[0].string
        })
      #expect(chunks.count == 2)
      for chunk in chunks {
        _ = try await client.command(
          "XCLAIM", stream, "workers", "lost", "0", chunk, "IDLE", "60000", "RETRYCOUNT",
          "3", "FORCE", "JUSTID")
      }
      try await stage.withWorkers { _ in
        _ = try await client.finished("bystander")
        #expect(try await client.record("poison")?.state == .done)
      }
    }
  }
}
