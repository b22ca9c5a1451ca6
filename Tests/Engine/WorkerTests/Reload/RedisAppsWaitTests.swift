import LocalServices
import Logging
import Providers
import Store
import TestSupport
import Testing

@testable import Worker

/// How a worker that starts waits for the apps of Redis.
@Suite struct RedisAppsWaitTests {
  private let folder: ReloadFolder
  private let sealingKey = SealingKey.random()

  init() throws {
    folder = try ReloadFolder()
    try PrivateFile.write(sealingKey.fileText, to: folder.folder.file("apps.key"))
    try folder.write(["shop"], "apps_in_redis: {key_files: [apps.key]}")
  }

  @Test("a worker waits for the apps of Redis before its lanes start, and no longer than it lives")
  func waits() async throws {
    try await RedisServer.with { server in
      let shelf = try AppShelf(server, key: folder.key, keys: SealingKeys(sealingKey))
      try await shelf.put("news")
      try await folder.withKeeper(redis: server) { keeper, taken in
        let running = Task(executorPreference: keeper.loop) { await keeper.run() }
        await keeper.complete()
        #expect(keeper.current.apps.redis.usable["news"] != nil)
        #expect(await keeper.end(running, withinMs: 60_000))
      }
      // Redis is away: only the end of the worker ends the wait.
      await server.stop()
      try await folder.withKeeper(redis: server) { keeper, taken in
        let running = Task(executorPreference: keeper.loop) { await keeper.run() }
        let waiting = Task { await keeper.complete() }
        #expect(await keeper.end(running, withinMs: 60_000))
        await waiting.value
        #expect(keeper.current.apps.redis.ids.isEmpty)
      }
    }
  }

  @Test("a Redis that is away is waited for, for so long, and then the worker goes on without it")
  func waitsForSoLong() async throws {
    try await RedisServer.with { server in
      let shelf = try AppShelf(server, key: folder.key, keys: SealingKeys(sealingKey))
      try await shelf.put("news")
      await server.stop()
      try await folder.withKeeper(redis: server, patienceMs: 600_000) { keeper, taken in
        #expect(taken.standing.awaited == "waits for the apps of Redis")
        await keeper.begin()
        let awaited = try #require(taken.standing.awaited)
        #expect(awaited.hasPrefix("waits for the apps of Redis: "), "\(awaited)")
        #expect(await !keeper.takeRedisApps())
        #expect(taken.standing.redisAppsAlarms.isEmpty)
        #expect(taken.lines.has(.warning, "the apps of Redis cannot be read: "))
      }
      try await folder.withKeeper(redis: server, patienceMs: 0) { keeper, taken in
        await keeper.begin()
        await keeper.complete()
        #expect(taken.standing.awaited == nil && keeper.current.apps.redis.ids.isEmpty)
        let alarm = try #require(taken.standing.redisAppsAlarms.first)
        #expect(alarm.field == "redis_apps|connection")
        #expect(alarm.sentence.contains("and the worker goes on without them: "))
        #expect(taken.lines.has(.error, "and the worker goes on without them"))
      }
    }
  }

  @Test("lanes wait for the apps of Redis for a bounded time, whatever holds up the keeper")
  func boundsWait() async throws {
    try await RedisServer.with { server in
      try await folder.withKeeper(redis: server) { keeper, taken in
        #expect(taken.standing.awaited != nil)
        await keeper.complete(withinMs: 10)
        #expect(taken.lines.has(.warning, "the lanes start without them"))
        await keeper.complete()
        #expect(taken.standing.awaited == nil)
      }
    }
    try folder.write(["shop"])
    try await folder.withKeeper { keeper, taken in
      await keeper.complete(withinMs: 3_600_000)
      #expect(taken.lines.all.isEmpty)
    }
  }
}
