import Model
import Reactor
import Redis
import Testing

@testable import Worker

/// A lane of a fleet of several shards that has not seen yet which shard its Redis is.
@Suite struct LaneShardTests {
  private static func lane(on loop: EventLoop, _ log: LogLines) throws -> Lane {
    let (main, eu) = (try ShardID("main"), try ShardID("eu"))
    var shared = SharedParts(clock: FleetClock(), configuration: ConfigurationStanding())
    shared.doors = ShardDoors([main, eu])
    return try Lane(
      loop: loop,
      settings: LaneSettings(
        worker: "test", consumer: "test-1", shard: eu, prefix: "{pp}",
        redis: RedisEndpoint(endpoint: .unix(path: "/nowhere")), leaseMs: 10_000, drainMs: 1_000,
        connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000, number: 1,
        sendsDirectly: false, shared: shared),
      snapshot: TestDirectory.snapshot(try TestDirectory.of(.production), apps: "shop"),
      log: log.logger)
  }

  @Test("nothing is added, drawn or agreed on in a Redis that may be another shard")
  func unknown() async throws {
    let loop = try EventLoop(name: "lane")
    let lane = try Self.lane(on: loop, LogLines())
    try loop.start()
    let unknown = RedisError.unavailable(reason: "it is not known yet which shard it is")
    #expect(await !lane.isThere())
    #expect(await lane.add([(text: Array("{}".utf8), priority: .normal)]) == [unknown])
    await #expect(throws: unknown) {
      _ = try await lane.draw(RateLimit(name: "app:shop", perSecond: 1), wanted: 1)
    }
    await #expect(throws: unknown) {
      _ = try await lane.agree("token", proposal: "t", refused: nil, lifeMs: 1)
    }
    await #expect(throws: unknown) { _ = try await lane.agreed("token") }
    #expect(await !lane.statistics(askedNs: EventLoop.clockNs()).isConnected)
    loop.stop()
    loop.join()
    withExtendedLifetime(lane) {}
  }
}
