import Logging
import Model
import Redis
import Store
import Testing

@testable import Worker

/// What a worker says in a shard of where apps live.
@Suite struct PlacementKeeperTests {
  @Test("workers that disagree where an app lives are an error, and a change of one's own is none")
  func disagreement() async throws {
    let (main, eu) = (try ShardID("main"), try ShardID("eu"))
    try await LaneStage.with(
      shard: main, doors: ShardDoors([main, eu]), elsewhere: AppsElsewhere(named: ["other": eu])
    ) { _, parts in
      let keeper = PlacementKeeper(parts.context, of: nil)
      var nowMs: Int64 = 1
      keeper.nowMs = { nowMs }
      func told() async throws -> String? {
        try await parts.redis("HGET", "{pp}:elsewhere", "other").string
      }
      _ = await keeper.turn()
      #expect(try await told() == "eu")
      // Not each second.
      _ = try await parts.redis("HSET", "{pp}:elsewhere", "other", "us")
      _ = await keeper.turn()
      #expect(try await told() == "us")
      // Others may go by the configuration of before: they are outdone soon, and that is no error.
      nowMs += WorkerLimits.placementSoonMs
      _ = await keeper.turn()
      #expect(try await told() == "eu")
      #expect(!parts.lines.has(.error, "disagree"))
      nowMs += WorkerLimits.placementNewMs
      _ = await keeper.turn()
      _ = try await parts.redis("HSET", "{pp}:elsewhere", "other", "us")
      nowMs += WorkerLimits.placementSoonMs
      _ = await keeper.turn()
      #expect(try await told() == "us")
      nowMs += WorkerLimits.placementMs
      _ = await keeper.turn()
      #expect(try await told() == "eu")
      #expect(parts.lines.has(.error, "disagree where other lives"))
    }
    try await LaneStage.with(
      shard: main, doors: ShardDoors([main, eu]), elsewhere: AppsElsewhere(named: ["other": eu])
    ) { _, parts in
      // As by the configuration of before.
      _ = try await parts.redis("HSET", "{pp}:elsewhere", "other", "us")
      _ = await PlacementKeeper(parts.context, of: nil).turn()
      #expect(!parts.lines.has(.error, "disagree"))
    }
  }

  @Test("a new snapshot that says the same of where apps live is no change")
  func redisApps() async throws {
    let (main, eu) = (try ShardID("main"), try ShardID("eu"))
    try await LaneStage.with(
      shard: main, doors: ShardDoors([main, eu]), elsewhere: AppsElsewhere(named: ["other": eu])
    ) { _, parts in
      let keeper = PlacementKeeper(parts.context, of: nil)
      var nowMs: Int64 = 1
      keeper.nowMs = { nowMs }
      func renew() {
        let current = parts.context.snapshot.current
        parts.context.snapshot.use(
          WorkerSnapshot(
            directory: current.directory, routes: current.routes, rules: current.rules,
            elsewhere: current.elsewhere))
      }
      func told() async throws -> String? {
        try await parts.redis("HGET", "{pp}:elsewhere", "other").string
      }
      _ = await keeper.turn()
      _ = try await parts.redis("HSET", "{pp}:elsewhere", "other", "us")
      renew()
      _ = await keeper.turn()
      #expect(try await told() == "us")
      // Workers that disagree are told of, however often apps of Redis change.
      nowMs += WorkerLimits.placementNewMs
      renew()
      _ = await keeper.turn()
      #expect(try await told() == "eu")
      #expect(parts.lines.has(.error, "disagree where other lives"))
    }
  }
}
