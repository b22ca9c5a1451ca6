import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

@Suite struct MemoryTests {
  @Test("finished campaigns leave nothing in Redis that does not end (gorush#689, rpush#212)")
  func freesRedis() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "aa", status: 503, reason: "ServiceUnavailable", times: 100),
        ScriptRule(
          tokenPrefix: "bb", status: 410, reason: "Unregistered",
          timestampMs: 4_000_000_000_000),
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<700))
      try await client.install(try Devices.apns(700..<800, prefix: "aa"))
      try await client.install(try Devices.apns(800..<820, prefix: "bb"))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("one", 0..<820))
        _ = try await client.enqueue(Devices.job("two", 0..<300), priority: .high)
        _ = try await client.enqueue("no JSON")
        #expect(try await client.finishedInHaste("one").counts.uninstalled == 20)
        #expect(try await client.finishedInHaste("two").counts.accepted == 300)
      }
      let keys = (try await client.command("KEYS", "pushpool:*").array ?? []).compactMap(\.string)
      // What is meant to last: installations, their indexes, streams that are bounded, and streams that are empty.
      let lasting = [
        "user:", "token:", "generation", "index:", "block:", "audiences:", "indexed", "dead",
        "uninstalled", "audit", "finished", "totals",
      ]
      let emptied = ["jobs:", "chunks:"]
      for key in keys {
        let name = key.dropFirst("pushpool:".count)
        if lasting.contains(where: { name.hasPrefix($0) }) { continue }
        if emptied.contains(where: { name.hasPrefix($0) }) {
          #expect(try await client.command("XLEN", key).integer == 0, "\(key) holds work")
          let consumers = try await client.command("XINFO", "CONSUMERS", key, "workers").array
          #expect(consumers?.isEmpty == true, "\(key) keeps consumers of workers that left")
          continue
        }
        #expect(!name.hasPrefix("segment:") && !name.hasPrefix("done:"), "\(key) is left over")
        if ["workers", "routes", "timeline", "ledger", "delayed", "promoter", "oldest"].contains(
          name)
        {
          continue
        }
        #expect((try await client.command("TTL", key).integer ?? -1) > 0, "\(key) never ends")
      }
      #expect(try await client.command("EXISTS", "pushpool:delayed").integer == 0)
      #expect(keys.contains("pushpool:job:shop:one"))
    }
  }

  @Test("a lane claims only what its connections can carry (pushy#857, node-apn#191)")
  func boundsPendingWork() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 30 }
    try await PushStage.with(script: script, worker: .narrow(100)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<5_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("long", 0..<5_000))
        var claimedMost = 0
        _ = try await eventually("the campaign ends") {
          claimedMost = max(claimedMost, try await client.claimedChunks())
          return try await client.record("long")?.state.isFinal == true ? true : nil
        }
        // Of 20. 100 in flight and 512 queued are parts of 4 chunks, 4 more are claimed at a time, and some are
        // being settled: how many depends on how soon Redis answers.
        #expect(claimedMost >= 2)
        #expect(claimedMost <= 14)
        stage.expectDelivered(try await client.finished("long"), 5_000)
      }
      #expect(stage.simulator.counters.openStreamsMax <= 100)
    }
  }
}
