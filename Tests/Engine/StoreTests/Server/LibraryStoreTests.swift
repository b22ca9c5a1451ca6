import LocalServices
import Redis
import TestSupport
import Testing

@testable import Store

/// The function libraries that versions of the program leave in Redis.
@Suite struct LibraryStoreTests {
  private static let old = FunctionLibrary(
    name: "pushpool", version: "0ldver5",
    template: """
      #!lua name=pushpool_@VERSION@
      redis.register_function('pushpool_old_@VERSION@', function() return 'still here' end)
      """)

  private func names(_ store: ShardStore) async throws -> Set<String> {
    let reply = try await store.redis("FUNCTION", "LIST")
    return Set((reply.array ?? []).compactMap { $0.pairs.first?.1 })
  }

  private func age(_ store: ShardStore, byMs ms: Int) async throws {
    for name in [StoreLibrary.library.name, Self.old.name] {
      _ = try await store.redis("ZINCRBY", store.keys.libraries, String(ms), name)
    }
  }

  @Test func `a library that no worker has used for a day is deleted, and comes back when needed`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      let elder = try await lane.connect(server, library: Self.old)
      defer { elder.close() }
      let foreign = "#!lua name=someone_else\nredis.register_function('other', function() end)"
      _ = try await store.redis("FUNCTION", "LOAD", foreign)
      let own = StoreLibrary.library.name
      let all: Set = [own, Self.old.name, "someone_else"]
      #expect(try await names(store) == all)
      // Seen for the first time, and then within the day.
      #expect(try await store.libraries.sweep() == [])
      let almostADay = -86_400_000 + 60_000
      try await age(store, byMs: almostADay)
      #expect(try await store.libraries.sweep() == [])
      #expect(try await names(store) == all)
      try await age(store, byMs: -120_000)
      #expect(try await store.libraries.sweep() == [Self.old.name])
      #expect(try await names(store) == [own, "someone_else"])
      // An old version that still runs goes on, and has another day.
      let answer = try await elder.callFunction(
        RedisCommand("FCALL", "pushpool_old_0ldver5", "0")
      ) { $0.string }
      #expect(answer == "still here")
      #expect(try await store.libraries.sweep() == [])
      #expect(try await names(store) == all)
    }
  }
}
