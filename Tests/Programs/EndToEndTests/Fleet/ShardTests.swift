import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// Workers of a fleet with two shards, each a Redis of its own.
@Suite struct ShardTests {
  private static func keys(_ pattern: String, _ client: StageClient) async throws -> [String] {
    try await client.command("KEYS", pattern).array?.compactMap(\.string) ?? []
  }

  /// When a worker beat last in a shard; 0 for never.
  private static func beat(_ worker: String, _ client: StageClient) async throws -> Double {
    try await client.command("ZSCORE", "pushpool:workers", worker).string.flatMap { Double($0) }
      ?? 0
  }

  @Test("each app is sent for from its own shard, and one provider token is agreed on at home")
  func apart() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<400)
      try await stage.withWorkers(2, of: fleet.configuration) { workers in
        _ = try await client.enqueue(Devices.job("sale", 0..<400))
        _ = try await euClient.enqueue(ShardStage.other("sale", 0..<400))
        let shop = try await client.finished("sale")
        let other = try await euClient.finished("sale", app: "other")
        #expect(shop.counts.accepted == 400 && other.counts.accepted == 400)
        // A worker beats in each shard that it serves.
        for worker in workers {
          let name = worker.name
          for client in [client, euClient] {
            _ = try await eventually("\(name) beats") {
              try await Self.beat(name, client) > 0 ? true : nil
            }
          }
        }
      }
      #expect(stage.simulator.acceptedPushes.count == 800 && stage.duplicates == 0)
      // A second token of the same key would be refused (TooManyProviderTokenUpdates).
      #expect(stage.simulator.counters.answers[429] ?? 0 == 0)
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
      #expect(stage.simulator.counters.violations == 0)
      #expect(try await Self.keys("pushpool:credential:apns:*", client).isEmpty == false)
      #expect(try await Self.keys("pushpool:credential:*", euClient).isEmpty)
      // Neither shard has anything of the other's app.
      #expect(try await Self.keys("pushpool:job:*other*", client).isEmpty)
      #expect(try await Self.keys("pushpool:job:*shop*", euClient).isEmpty)
    }
  }

  @Test("a rate that apps of both shards keep to stands at home, and an app's own beside the app")
  func rates() async throws {
    try await ShardStage.with(configure: { $0.apps[1].pushesPerSecond = 2_000 }) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await client.install(try Devices.fcm(0..<100))
      try await euClient.install(
        try Devices.fcm(100..<200).map { installation in
          var installation = installation
          installation.app = "other"
          return installation
        })
      try await stage.withWorkers(of: fleet.configuration) { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<100))
        _ = try await euClient.enqueue(ShardStage.other("sale", 100..<200))
        #expect(try await client.finished("sale").counts.accepted == 100)
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 100)
        // While they are kept: for some seconds.
        #expect(try await Self.keys("pushpool:rate:*", euClient) == ["pushpool:rate:app:other"])
        let atHome = try await Self.keys("pushpool:rate:*", client)
        #expect(atHome.count == 1 && !atHome.contains { $0.contains("app:") }, "\(atHome)")
      }
    }
  }

  @Test("a shard that is killed stops its own app, and goes on when it is back")
  func killed() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    options.configuration = ["appendfsync always"]
    try await ShardStage.with(eu: options) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<300)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await eventually("it beats in both") {
          let name = workers[0].name
          let isThere = try await Self.beat(name, client) > 0
          return try await Self.beat(name, euClient) > 0 && isThere ? true : nil
        }
        await fleet.eu.stop()
        _ = try await client.enqueue(Devices.job("alone", 0..<300))
        #expect(try await client.finished("alone").counts.accepted == 300)
        try await fleet.eu.restart()
        _ = try await euClient.enqueue(ShardStage.other("back", 0..<300))
        #expect(try await euClient.finished("back", app: "other").counts.accepted == 300)
      }
      #expect(stage.duplicates == 0 && stage.simulator.acceptedPushes.count == 600)
    }
  }

  @Test("a shard whose Redis hangs keeps no worker from saying that it lives in the others")
  func hanging() async throws {
    try await ShardStage.with { fleet in
      let (stage, client) = (fleet.stage, fleet.stage.client)
      try await fleet.install(0..<100)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        let name = workers[0].name
        _ = try await eventually("it beats") { try await Self.beat(name, client) > 0 ? true : nil }
        let pid = await fleet.eu.pid
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        // Far more often than a single answer may be late.
        var last = try await Self.beat(name, client)
        for _ in 0..<8 {
          let before = last
          last = try await eventually(withinSeconds: 5, "it beats again") {
            let now = try await Self.beat(name, client)
            return now > before ? now : nil
          }
        }
        _ = try await client.enqueue(Devices.job("alone", 0..<100))
        #expect(try await client.finished("alone").counts.accepted == 100)
      }
    }
  }

  @Test(
    "a shard whose clock is an hour off sends what is due, and tokens are dated by the home's clock",
    arguments: [-3_600, 3_600])
  func clocks(aheadSeconds: Int) async throws {
    let folder = try TemporaryFolder()
    let shift = try ClockShift(file: folder.file("clock"))
    try shift.set(realtimeMs: Int64(aheadSeconds) * 1_000)
    var options = RedisServer.Options()
    options.clock = shift
    try await ShardStage.with(eu: options) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<200)
      try await stage.withWorkers(of: fleet.configuration) { _ in
        let ttl = #","ttl_seconds":900"#
        _ = try await client.enqueue(Devices.job("soon", 0..<200, ttl))
        _ = try await euClient.enqueue(ShardStage.other("soon", 0..<200, ttl))
        #expect(try await client.finished("soon").counts.accepted == 200)
        #expect(try await euClient.finished("soon", app: "other").counts.accepted == 200)
      }
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
      #expect(stage.simulator.counters.answers[429] ?? 0 == 0)
    }
  }
}
