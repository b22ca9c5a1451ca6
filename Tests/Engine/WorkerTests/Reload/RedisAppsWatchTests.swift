import HTTPClient
import LocalServices
import Providers
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

/// How the apps of Redis are read while others change them.
@Suite struct RedisAppsWatchTests {
  @Test("an app that somebody adds while all are read is noticed with the next look")
  func readsWhatComesMeanwhile() async throws {
    let folder = try ReloadFolder()
    let sealingKey = SealingKey.random()
    try PrivateFile.write(sealingKey.fileText, to: folder.folder.file("apps.key"))
    try folder.write(["shop"], "apps_in_redis: {key_files: [apps.key]}")
    let keys = SealingKeys(sealingKey)
    try await TestLane.withRedis { lane, server in
      let shelf = try AppShelf(server, key: folder.key, keys: keys)
      try await shelf.put("news")
      let proxy = try AlteringRedis(
        loop: lane.loop, server: server.endpoint, seed: 1, perMille: 0)
      defer { proxy.close() }
      let watch = try RedisAppsWatch(
        RedisAppsPlace(
          endpoint: RedisEndpoint(endpoint: .tcp(host: "127.0.0.1", port: proxy.port)),
          prefix: ReloadFolder.prefix, routes: FleetRoutes()), on: lane.loop)
      defer { watch.stop() }
      watch.start()
      await watch.waitUntilReady(ms: TestLane.patienceMs)
      // As put_app does, when the worker has read all apps and looks no further.
      var change = RedisCommand("HSET", "{pp}:apps", "late")
      change.append(try shelf.value(of: "late"))
      proxy.following["HSCAN"] = [
        RedisCommand("XADD", "{pp}:app_changes", "*", "app", "late"), change,
      ]
      let client = HTTPClient()
      func look(after before: LoadedConfiguration) async throws -> LoadedConfiguration? {
        try await watch.read(after: before, keys: keys, client: client, clock: .system).map {
          LoadedConfiguration(before.configuration, $0, keys: keys)
        }
      }
      let first = try #require(try await look(after: try folder.loaded()))
      #expect(proxy.following.isEmpty && first.apps.redis.ids == ["news"])
      let next = try #require(try await look(after: first))
      #expect(next.apps.redis.ids == ["news", "late"])
      #expect(try await look(after: next) == nil)
    }
  }
}
