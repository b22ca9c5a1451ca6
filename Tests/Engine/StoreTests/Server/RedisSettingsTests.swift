import LocalServices
import Model
import Reactor
import Redis
import TestSupport
import Testing

@testable import Store

/// What is unsafe about a Redis, as real ones with these settings tell it.
@Suite struct RedisSettingsTests {
  private static func settings(
    _ lines: [String], appendOnly: Bool = true
  ) async throws -> RedisSettings {
    var options = RedisServer.Options()
    options.appendOnly = appendOnly
    options.configuration = lines
    return try await Lane.withStore(options) { _, store in
      try #require(try await store.settings.readAllowed())
    }
  }

  @Test func `a Redis that keeps what it is told is no risk`() async throws {
    let settings = try await Self.settings(["maxmemory 100mb"])
    #expect(settings.findings.isEmpty && !settings.evictsAnyKey)
    #expect(settings.policy == "noeviction" && settings.memoryBytesMax == 104_857_600)
  }

  @Test(
    "each policy that evicts is a risk, and work is surely lost where any key may go",
    arguments: ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-ttl"])
  func tellsPolicy(_ policy: String) async throws {
    let settings = try await Self.settings(["maxmemory 100mb", "maxmemory-policy \(policy)"])
    #expect(settings.findings.map(\.risk) == [.eviction])
    #expect(settings.findings[0].sentence.contains("maxmemory-policy \(policy)"))
    #expect(settings.evictsAnyKey == policy.hasPrefix("allkeys"))
    let unlimited = try await Self.settings(["maxmemory-policy \(policy)"])
    #expect(unlimited.findings.map(\.risk) == [.eviction] && !unlimited.evictsAnyKey)
  }

  @Test func `a Redis without an append-only file is one, and the snapshots say what it costs`()
    async throws
  {
    let none = try await Self.settings([], appendOnly: false)
    #expect(none.findings.map(\.risk) == [.noAppendOnlyFile] && none.savePoints == "")
    #expect(none.findings[0].sentence.contains("loses everything"))
    let some = try await Self.settings(["save 3600 1"], appendOnly: false)
    #expect(some.savePoints == "3600 1")
    #expect(some.findings[0].sentence.contains("after its last snapshot"))
  }

  @Test func `where CONFIG is forbidden INFO tells the rest, and where both are nothing is known`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      _ = try await store.redis("ACL", "SETUSER", "default", "-config")
      let told = try #require(try await store.settings.readAllowed())
      #expect(told.findings.map(\.risk) == [.noAppendOnlyFile] && told.savePoints == nil)
      _ = try await store.redis("ACL", "SETUSER", "default", "-info")
      #expect(try await store.settings.readAllowed() == nil)
    }
  }

  @Test func `a replica is a risk, and a primary that goes on without its replicas`() async throws {
    var options = RedisServer.Options()
    options.tcp = true
    options.appendOnly = true
    let primary = try await RedisServer.start(options)
    let port = try #require(primary.port)
    options.configuration = ["replicaof 127.0.0.1 \(port)"]
    let replica = try await RedisServer.start(options)
    try await TestLane.run { lane in
      var endpoint = replica.endpoint
      endpoint.needsPrimary = false
      let reading = try await lane.connect(endpoint)
      defer { reading.close() }
      let told = try await ShardStore(connection: reading, prefix: "{pp}").settings.read()
      #expect(told.findings.map(\.risk) == [.replica])
      let connection = try await lane.connect(primary.endpoint)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      var settings = try await store.settings.read()
      while settings.replicas == 0 {
        await lane.loop.sleep(ms: 10)
        settings = try await store.settings.read()
      }
      #expect(settings.findings.map(\.risk) == [.unawaitedReplicas])
      _ = try await store.redis("CONFIG", "SET", "min-replicas-to-write", "1")
      #expect(try await store.settings.read().findings.isEmpty)
    }
    await replica.close()
    await primary.close()
  }

  @Test func `what a server says of its policy is a word, or nothing`() {
    for policy in ["", "a b", "x\u{1B}[2J", String(repeating: "a", count: 100)] {
      let settings = RedisSettings(info: "maxmemory:-5\r\nmaxmemory_policy:\(policy)\r\nrole")
      #expect(settings.findings.isEmpty && settings.memoryBytesMax == 0)
    }
  }
}
