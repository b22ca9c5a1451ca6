import LocalServices
import Logging
import Model
import Providers
import PushpoolConfiguration
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

/// How a worker takes the apps of Redis, and what changes of them.
@Suite struct RedisAppsKeeperTests {
  private let folder: ReloadFolder
  private let sealingKey = SealingKey.random()
  private static let section = "apps_in_redis: {key_files: [apps.key]}"

  init() throws {
    folder = try ReloadFolder()
    try PrivateFile.write(sealingKey.fileText, to: folder.folder.file("apps.key"))
    try folder.write(["shop"], Self.section)
  }

  /// Runs the body with a keeper that has read the apps of Redis once, and with the store that they stand in.
  private func withKeeper(
    _ prepare: @Sendable (AppShelf) async throws -> Void = { _ in },
    _ body: @Sendable (ConfigurationKeeper, ReloadFolder.Taken, AppShelf) async throws -> Void
  ) async throws {
    try await RedisServer.with { server in
      let shelf = try AppShelf(server, key: folder.key, keys: SealingKeys(sealingKey))
      try await prepare(shelf)
      try await folder.withKeeper(redis: server) { keeper, taken in
        await Self.begin(keeper) { taken.last != nil }
        try await body(keeper, taken, shelf)
      }
    }
  }

  /// Has the keeper begin until the apps are read: it waits for Redis a second at a time.
  private static func begin(_ keeper: ConfigurationKeeper, until isRead: () -> Bool) async {
    for _ in 1...60 where !isRead() { await keeper.begin() }
  }

  @Test("apps that stand in Redis are taken at the start, and later what has changed of them alone")
  func takes() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      let first = try #require(taken.last?.apps)
      #expect(Set(first.redis.usable.keys) == ["news"] && taken.count == 1)
      #expect(try await shelf.routes() == ["news": "apns|production"])
      // Nothing has changed.
      await keeper.takeRedisApps()
      #expect(taken.count == 1)
      try await shelf.put("mail")
      await keeper.takeRedisApps()
      let next = try #require(taken.last?.apps)
      #expect(Set(next.redis.usable.keys) == ["news", "mail"])
      #expect(next.directory.numbers(app: "news") == first.directory.numbers(app: "news"))
      #expect(next.directory.numbers(app: "shop") == first.directory.numbers(app: "shop"))
      #expect(try await shelf.routes().keys.sorted() == ["mail", "news"])
      #expect(taken.lines.has(.notice, "apps of Redis have changed: 1 added", ["added": "mail"]))
      try await shelf.remove("news")
      await keeper.takeRedisApps()
      #expect(taken.last?.apps.directory.numbers(app: "news") == [])
      #expect(try await shelf.routes().keys.sorted() == ["mail"])
      #expect(taken.lines.has(.notice, "1 removed", ["removed": "news"]))
      #expect(taken.fields["redis_apps"] == "1" && taken.fields["redis_apps_left_out"] == "0")
    }
  }

  @Test("a rule that changes is taken, and is the app's alone")
  func takesRules() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      let number = taken.last?.apps.directory.numbers(app: "news")
      try await shelf.put("news", #""events_per_minute": 7, "jobs": {"retention_hours": 2}"#)
      await keeper.takeRedisApps()
      let last = try #require(taken.last)
      let rules = WorkerSnapshot(last.configuration, last.apps).rules
      #expect(rules.eventsPerMinute["news"] == 7 && rules.eventsPerMinute["shop"] == 600)
      #expect(rules.retention["news"].manySeconds == 7_200)
      #expect(rules.retention["shop"].manySeconds == 604_800)
      #expect(last.apps.directory.numbers(app: "news") == number)
      #expect(taken.lines.has(.notice, "1 changed", ["changed": "news"]))
    }
  }

  @Test("junk, another's secret and an unknown key leave out their app alone")
  func leavesOut() async throws {
    try await withKeeper({ shelf in
      try await shelf.put("good")
      try await shelf.put("other")
      try await shelf.copy("other", to: "copied")
      try await shelf.write("junk", "no JSON")
      try await shelf.write("not|a name", "{}")
      try await shelf.put("locked", keys: SealingKeys(.random()))
    }) { keeper, taken, shelf in
      let apps = try #require(taken.last?.apps)
      #expect(Set(apps.redis.usable.keys) == ["good", "other"])
      #expect(Set(apps.redis.leftOut.keys) == ["copied", "junk", "locked"])
      #expect(taken.lines.has(.error, "locked is left out, and its jobs wait"))
      #expect(taken.lines.has(.error, "is sealed with the key"))
      let snapshot = WorkerSnapshot(try #require(taken.last?.configuration), apps)
      #expect(snapshot.routes.leavesOut("junk") && !snapshot.routes.has("junk"))
      #expect(snapshot.routes.has("good") && snapshot.leftOut.count == 3)
      // Nobody is told that it could be sent for.
      #expect(try await shelf.routes().keys.sorted() == ["good", "other"])
      // Said once.
      let said = taken.lines.all.count
      await keeper.takeRedisApps()
      #expect(taken.lines.all.count == said)
      // One is mended.
      try await shelf.put("junk")
      await keeper.takeRedisApps()
      #expect(taken.last?.apps.redis.usable["junk"] != nil)
    }
  }

  @Test("another key file opens what could not be opened, without a restart")
  func takesKeys() async throws {
    let other = SealingKey.random()
    try await withKeeper({ shelf in
      try await shelf.put("news")
      try await shelf.put("locked", keys: SealingKeys(other))
    }) { keeper, taken, shelf in
      #expect(taken.last?.apps.redis.leftOut.keys.elementsEqual(["locked"]) == true)
      let news = taken.last?.apps.directory.numbers(app: "news")
      let digest = keeper.current.digest
      try PrivateFile.write(other.fileText, to: folder.folder.file("new.key"))
      try folder.write(["shop"], "apps_in_redis: {key_files: [new.key, apps.key]}")
      await keeper.ask()
      _ = await keeper.turn()
      await keeper.takeRedisApps()
      #expect(taken.last?.apps.redis.leftOut.isEmpty == true)
      #expect(taken.last?.apps.redis.usable["locked"] != nil)
      // By this whoever rotates a key sees which workers have it.
      #expect(keeper.current.digest != digest)
      #expect(taken.lines.has(.notice, "settings changed", ["settings": "apps_in_redis.key_files"]))
      #expect(taken.last?.apps.directory.numbers(app: "news") == news)
      // A file that holds no key changes nothing.
      try PrivateFile.write("no key", to: folder.folder.file("new.key"))
      await keeper.ask()
      _ = await keeper.turn()
      #expect(
        taken.standing.alarmCondition?.sentence.contains("apps_in_redis.key_files") == true)
      #expect(keeper.current.apps.redis.usable.count == 2)
    }
  }

  @Test(
    "the file's app counts when both have it, an alarm names it, and Redis's comes when the file's goes"
  )
  func conflicts() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      func load(_ apps: String...) async throws {
        try folder.write(apps, Self.section)
        await keeper.ask()
        _ = await keeper.turn()
        await keeper.takeRedisApps()
      }
      let stored = taken.last?.apps.directory.numbers(app: "news")
      #expect(taken.last?.apps.redis.usable["news"] != nil)
      try await load("shop", "news")
      let last = try #require(taken.last)
      #expect(last.apps.redis.displaced == ["news"])
      #expect(last.apps.redis.usable["news"] == nil)
      // It is the same account, so its entry and the connections stay.
      #expect(last.apps.directory.numbers(app: "news") == stored)
      let snapshot = WorkerSnapshot(last.configuration, last.apps)
      #expect(snapshot.displaced == ["news"])
      #expect(snapshot.routes.has("news") && snapshot.routes.redisApps.isEmpty)
      try await load("shop")
      #expect(taken.last?.apps.redis.usable["news"] != nil)
      #expect(taken.last?.apps.redis.displaced.isEmpty == true)
    }
  }

  @Test("apps of Redis come and go with the section of the configuration")
  func section() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      try folder.write(["shop"])
      await keeper.ask()
      _ = await keeper.turn()
      #expect(taken.last?.apps.redis.ids.isEmpty == true)
      #expect(taken.last?.apps.directory.numbers(app: "news") == [])
      #expect(taken.fields["redis_apps"] == "")
      try folder.write(["shop"], Self.section)
      await keeper.ask()
      _ = await keeper.turn()
      await Self.begin(keeper) { taken.last?.apps.redis.usable["news"] != nil }
      #expect(taken.last?.apps.redis.usable["news"] != nil)
    }
  }

  @Test("a configuration may have no app but those of Redis")
  func redisAlone() async throws {
    try PrivateFile.write(Self.section + "\n", to: folder.file)
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      #expect(taken.last?.apps.directory.numbers(app: "news").count == 1)
      try PrivateFile.write(Self.section + "\nlog: {level: debug}\n", to: folder.file)
      await keeper.ask()
      _ = await keeper.turn()
      #expect(taken.standing.alarmCondition == nil)
      #expect(keeper.current.apps.redis.usable["news"] != nil)
    }
  }

  @Test("when Redis loses its data or is restored, all is read anew")
  func startsAnew() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      try await shelf.command("FLUSHALL")
      try await shelf.put("mail")
      await keeper.takeRedisApps()
      #expect(taken.last?.apps.redis.usable.keys.elementsEqual(["mail"]) == true)
      // The routes that are gone with it are said again when the fleet notices.
      taken.routes.use(
        RouteNews(
          hasWork: false, isAnythingWaiting: false, isGathering: false, hasRedisApps: false,
          digests: []), new: [:])
      try await shelf.command("DEL", "{pp}:routes:apps")
      await keeper.takeRedisApps()
      #expect(try await shelf.routes().keys.sorted() == ["mail"])
    }
  }

  @Test("routes that a worker finds of apps that are gone are taken back, and others are left")
  func cleansRoutes() async throws {
    try await withKeeper({ shelf in
      try await shelf.put("news")
      try await shelf.write("junk", "no JSON")
      try await shelf.command("HSET", "{pp}:routes:apps", "gone", "fcm|production", "junk", "x")
    }) { keeper, taken, shelf in
      let routes = try await shelf.routes()
      // Another worker may have the one that is left out here.
      #expect(routes == ["news": "apns|production", "junk": "x"])
    }
  }

  @Test("routes of an app that another worker has since are not taken back")
  func leavesNewerRoutes() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      // As between this worker's look at the changes and what it says of the routes.
      try await shelf.command("HSET", "{pp}:apps", "late", "{}")
      try await shelf.command(
        "HSET", "{pp}:routes:apps", "late", "fcm|production", "gone", "fcm|production")
      taken.routes.use(
        RouteNews(
          hasWork: false, isAnythingWaiting: false, isGathering: false, hasRedisApps: false,
          digests: []), new: [:])
      await keeper.takeRedisApps()
      #expect(
        try await shelf.routes() == ["news": "apns|production", "late": "fcm|production"])
    }
  }

  @Test("what a killed worker has left in the shared routes is mended by the look of another one")
  func mendsRoutes() async throws {
    try await withKeeper({ shelf in
      try await shelf.put("news")
      try await shelf.write("junk", "no JSON")
    }) { keeper, taken, shelf in
      let whole = ["news": "apns|production"]
      #expect(try await shelf.routes() == whole)
      // As of a worker that had an older record, and was killed before it took the change.
      try await shelf.command("HSET", "{pp}:routes:apps", "news", "apns|production,fcm|production")
      await keeper.takeRedisApps()
      #expect(try await shelf.routes() == whole)
      // As of one that was killed before it could say that an app is gone. Others may have the one that is left out here, and one
      // that was added since.
      try await shelf.command("HSET", "{pp}:apps", "late", "{}")
      try await shelf.command(
        "HSET", "{pp}:routes:apps", "gone", "x", "junk", "x", "late", "fcm|production")
      await keeper.takeRedisApps()
      #expect(
        try await shelf.routes() == whole.merging(["junk": "x", "late": "fcm|production"]) { $1 })
      #expect(taken.count == 1 && taken.standing.redisAppsAlarms.isEmpty)
    }
  }

  @Test("a long table of shared routes is looked at page by page, and none is left out")
  func mendsPages() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      try await shelf.command(
        "EVAL", "for i = 1, 1000 do redis.call('HSET', KEYS[1], 'gone' .. i, 'x') end", "1",
        "{pp}:routes:apps")
      try await shelf.command("HSET", "{pp}:routes:apps", "news", "fcm|production")
      var looks = 0
      while try await shelf.routes() != ["news": "apns|production"], looks < 100 {
        await keeper.takeRedisApps()
        looks += 1
      }
      // One page at a time.
      #expect(looks > 1 && looks < 100)
    }
  }

  @Test(
    "when Redis refuses to show them, an alarm says so, those before go on, and the worker starts")
  func refused() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      try await shelf.command("DEL", "{pp}:app_changes")
      try await shelf.command("SET", "{pp}:app_changes", "text")
      #expect(await keeper.takeRedisApps())
      let alarm = try #require(taken.standing.redisAppsAlarms.first)
      #expect(alarm.field == "redis_apps|WRONGTYPE")
      #expect(
        alarm.sentence.hasPrefix("the apps of Redis cannot be read, and those that were read"))
      #expect(keeper.current.apps.redis.usable["news"] != nil)
      // It is no reason to wait with all else.
      await keeper.complete()
      try await shelf.command("DEL", "{pp}:app_changes")
      #expect(await keeper.takeRedisApps())
      #expect(taken.standing.redisAppsAlarms.isEmpty)
    }
  }

  @Test("more apps than there may be are not taken, and those that were read go on")
  func tooMany() async throws {
    try await withKeeper({ try await $0.put("news") }) { keeper, taken, shelf in
      try await shelf.command(
        "EVAL",
        """
        for i = 1, 10001 do redis.call('HSET', KEYS[1], 'x' .. i, '') end
        redis.call('XADD', KEYS[2], '*', 'app', 'x1')
        """, "2", "{pp}:apps", "{pp}:app_changes")
      #expect(await keeper.takeRedisApps())
      let alarm = try #require(taken.standing.redisAppsAlarms.first)
      #expect(alarm.field == "redis_apps|limit")
      #expect(alarm.sentence.contains("{pp}:apps: has 10002 apps"), "\(alarm.sentence)")
      #expect(keeper.current.apps.redis.ids == ["news"] && taken.count == 1)
    }
  }

  @Test("a key that is taken away too early is an alarm, while the apps that it has sealed go on")
  func missed() async throws {
    try await withKeeper({ shelf in
      try await shelf.put("news")
      try await shelf.put("mail")
    }) { keeper, taken, shelf in
      func load(_ files: String) async throws {
        try folder.write(["shop"], "apps_in_redis: {key_files: [\(files)]}")
        await keeper.ask()
        _ = await keeper.turn()
        await keeper.takeRedisApps()
      }
      let other = SealingKey.random()
      try PrivateFile.write(other.fileText, to: folder.folder.file("new.key"))
      #expect(taken.standing.redisAppsAlarms.isEmpty)
      try await load("new.key")
      #expect(Set(keeper.current.apps.redis.usable.keys) == ["mail", "news"])
      let alarm = try #require(taken.standing.redisAppsAlarms.first)
      #expect(alarm.field == "redis_apps|key")
      #expect(
        alarm.sentence.hasPrefix(
          "mail (and 1 more) is sealed with the key \(sealingKey.id), which no file of"))
      try await shelf.put("mail", keys: SealingKeys(other))
      await keeper.takeRedisApps()
      #expect(taken.standing.redisAppsAlarms.first?.sentence.hasPrefix("news is sealed") == true)
      try await load("new.key, apps.key")
      #expect(taken.standing.redisAppsAlarms.isEmpty)
    }
  }

  @Test("many apps are read page by page, and many are let go of at once")
  func many() async throws {
    try await withKeeper({ shelf in
      for number in 0..<200 { try await shelf.put("app-\(number)") }
    }) { keeper, taken, shelf in
      #expect(taken.last?.apps.redis.usable.count == 200 && taken.count == 1)
      // All of them have one key, and so one source of tokens.
      #expect(taken.last?.apps.directory.entries.count == 201)
      for number in 0..<100 { try await shelf.remove("app-\(number)") }
      await keeper.takeRedisApps()
      #expect(taken.last?.apps.redis.usable.count == 100 && taken.count == 2)
      #expect(try await shelf.routes().count == 100)
    }
  }
}
