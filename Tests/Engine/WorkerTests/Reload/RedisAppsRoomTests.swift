import LocalServices
import Logging
import Model
import Store
import TestSupport
import Testing

@testable import Providers
@testable import Worker

/// How a worker takes the apps of Redis when it has hardly any places or numbers left for their networks.
@Suite struct RedisAppsRoomTests {
  private let folder: ReloadFolder
  private let sealingKey = SealingKey.random()

  init() throws {
    folder = try ReloadFolder()
    try PrivateFile.write(sealingKey.fileText, to: folder.folder.file("apps.key"))
    try folder.write(["shop"], "apps_in_redis: {key_files: [apps.key]}")
  }

  /// Runs the body with a keeper that has looked at the apps of Redis once.
  /// - Parameters:
  ///   - numbers: of the networks that the worker has already.
  ///   - apps: stand in Redis, each with one network.
  private func withKeeper(
    having numbers: [Int], _ apps: [String],
    _ body: @Sendable (ConfigurationKeeper, ReloadFolder.Taken, AppShelf) async throws -> Void
  ) async throws {
    try await RedisServer.with { server in
      let shelf = try AppShelf(server, key: folder.key, keys: SealingKeys(sealingKey))
      for app in apps { try await shelf.put(app) }
      try await folder.withKeeper(
        redis: server,
        beginningWith: { loaded in
          let provider = try #require(loaded.apps.directory.entries.first).provider
          let directory = ProviderDirectory(
            entries: numbers.map {
              ProviderDirectory.Entry(
                number: $0, app: "crowd", environments: [.production], provider: provider)
            })
          return LoadedConfiguration(
            loaded.configuration,
            try ConfiguredApps(directory, leftOut: [], redis: RedisApps()), keys: loaded.keys)
        }
      ) { keeper, taken in
        for _ in 1...60 where taken.fields["redis_apps"] == "" { await keeper.begin() }
        try await body(keeper, taken, shelf)
      }
    }
  }

  @Test("an app that finds no place is named by an alarm, and taken when another one has made room")
  func takesLater() async throws {
    try await withKeeper(having: Array(0..<(ProviderLimits.entriesMax - 1)), ["mail", "news"]) {
      keeper, taken, shelf in
      let first = try #require(taken.last?.apps.redis)
      let taker = try #require(first.usable.keys.first)
      let other = taker == "mail" ? "news" : "mail"
      #expect(first.usable.count == 1 && Set(first.leftOut.keys) == [other])
      #expect(first.leftOut[other]?.sentence.contains("finds no place") == true)
      let alarm = try #require(taken.standing.redisAppsAlarms.first)
      #expect(alarm.field == "redis_apps|places")
      #expect(alarm.sentence.hasPrefix("an app of Redis finds no place (\(other)): "))
      // It is not tried in vain.
      await keeper.takeRedisApps()
      #expect(taken.count == 1)
      try await shelf.remove(taker)
      await keeper.takeRedisApps()
      await keeper.takeRedisApps()
      let last = try #require(taken.last?.apps)
      #expect(last.redis.usable.keys.elementsEqual([other]) && last.redis.leftOut.isEmpty)
      #expect(last.directory.numbers(app: other).count == 1)
      #expect(taken.standing.redisAppsAlarms.isEmpty)
      #expect(try await shelf.routes() == [other: "apns|production"])
    }
  }

  @Test("a worker asks for its restart before it can follow no more changes")
  func warns() async throws {
    try await withKeeper(having: [ProviderLimits.entryNumbersTold - 1], ["news"]) {
      keeper, taken, shelf in
      #expect(taken.last?.apps.redis.usable.keys.elementsEqual(["news"]) == true)
      #expect(taken.standing.redisAppsAlarms.map(\.field) == ["redis_apps|changes|w1"])
      let sentence = try #require(taken.standing.redisAppsAlarms.first?.sentence)
      #expect(
        sentence.hasPrefix(
          "worker w1 has counted over \(ProviderLimits.entryNumbersTold) networks and environments")
      )
      #expect(sentence.contains("restart the worker before that"))
      #expect(taken.lines.has(.error, "restart the worker before that"))
    }
    try await withKeeper(having: [ProviderLimits.entryNumbersTold - 2], ["news"]) {
      keeper, taken, shelf in
      #expect(taken.standing.redisAppsAlarms.isEmpty)
    }
  }

  @Test("a worker that can follow no more changes says so, and does not try all the time")
  func refuses() async throws {
    try await withKeeper(having: [ProviderLimits.entryNumbersMax - 1], ["news"]) {
      keeper, taken, shelf in
      #expect(taken.count == 0)
      let alarms = taken.standing.redisAppsAlarms
      #expect(alarms.map(\.field) == ["redis_apps|limit", "redis_apps|changes|w1"])
      #expect(
        alarms.first?.sentence.contains("restart it, for nothing else helps") == true,
        "\(alarms)")
      let reads = try await shelf.calls(of: "hscan")
      #expect(await keeper.takeRedisApps())
      #expect(try await shelf.calls(of: "hscan") == reads)
      #expect(taken.standing.redisAppsAlarms == alarms)
    }
  }
}
