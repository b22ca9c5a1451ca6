import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Worker

/// Workers and a Redis that loses what it has confirmed.
@Suite struct UnsafeRedisTests {
  @Test("a worker does not begin with a Redis that may evict any key, unless it is told to")
  func refusesToStart() async throws {
    try await PushStage.with { stage in
      _ = try await stage.client.command("CONFIG", "SET", "maxmemory", "500mb")
      _ = try await stage.client.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
      let refused = try stage.startProcess()
      #expect(await refused.waitForExit(timeoutMs: 60_000) == .code(78))
      let log = try #require(TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 20))
      #expect(log.contains("maxmemory-policy allkeys-lru"), "\(log)")
      #expect(log.contains("accepted_risks: eviction"))
      #expect(try await stage.client.command("EXISTS", "pushpool:workers").integer == 0)

      var text = stage.text
      text.acceptedRisks.append(.eviction)
      try await stage.client.install(Devices.apns(0..<1))
      let told = try stage.startProcess(of: text)
      _ = try await stage.client.enqueue(Devices.job("one", 0..<1))
      #expect(try await stage.client.finished("one").counts.accepted == 1)
      #expect(await told.terminate(graceMs: 30_000) == .code(0))
    }
  }

  @Test("a worker that finds Redis unsafe raises an alarm that ends when it is mended")
  func raisesAlarm() async throws {
    try await PushStage.with { stage in
      var configuration = stage.configuration
      configuration.redis.acceptedRisks = []
      try await stage.withWorkers(of: configuration) { _ in
        let alarm = try await eventually("the alarm") { try await stage.client.alarms().first }
        #expect(alarm.field == "unsafe_redis|no_append_only_file")
        #expect(alarm.message.contains("appendonly no"), "\(alarm.message)")
        _ = try await stage.client.command("CONFIG", "SET", "appendonly", "yes")
        // A worker looks whenever it is connected.
        _ = try await stage.client.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        _ = try await eventually("it ends") {
          try await stage.client.alarms().isEmpty ? true : nil
        }
      }
    }
  }
}
