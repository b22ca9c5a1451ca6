import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The one library for all versions of the program.
@Suite struct RegistrationLibraryTests {
  private static func libraries(_ store: ShardStore) async throws -> [String] {
    let reply = try await store.redis("FUNCTION", "LIST")
    return (reply.array ?? []).compactMap { $0.pairs.first?.1 }.sorted()
  }

  private static func expectThere(_ number: Int, _ store: ShardStore) async throws {
    #expect(try await store.registration.present() == number)
    let answer = try await store.register("pushpool_devices", #"{"app":"shop","user":"u"}"#)
    #expect(answer == .array([]))
  }

  @Test func `a newer library replaces an older one, and an older one never a newer`()
    async throws
  {
    try await Lane.withStore { _, store in
      let versions = [1, 2, 3].map { RegistrationLibrary(number: $0) }
      #expect(try await store.registration.provide(versions[0]))
      #expect(try await !store.registration.provide(versions[0]))
      #expect(try await store.registration.provide(versions[2]))
      try await Self.expectThere(3, store)
      #expect(try await !store.registration.provide(versions[1]))
      #expect(try await !store.registration.provide(versions[0]))
      try await Self.expectThere(3, store)
      #expect(try await Self.libraries(store).count == 2)
    }
  }

  @Test
  func
    `an older library that saw none, or a still older one, does not replace a newer one that came meanwhile`()
    async throws
  {
    try await Lane.withStore { _, store in
      let versions = [1, 2, 3].map { RegistrationLibrary(number: $0) }
      try await store.registration.provide(versions[2])
      // What the older one would do next.
      let loading = await failure { try await store.redis("FUNCTION", "LOAD", versions[1].source) }
      #expect(loading != nil)
      let replacing = await failure {
        try await store.registration.replace(versions[0], by: versions[1])
      }
      #expect(replacing?.description.contains("already exists") == true, "\(replacing as Any)")
      try await Self.expectThere(3, store)
    }
  }

  @Test func `many versions that come at once leave the newest`() async throws {
    try await Lane.withServer { lane, server in
      let versions = 6
      await withTaskGroup(of: Void.self) { group in
        for number in 1...versions {
          group.addTask {
            try? await Lane.withConnection(server, library: StoreLibrary.library) { _, connection in
              let store = ShardStore(connection: connection, prefix: "{pp}")
              // One that gives up because of the others comes again.
              for _ in 1...versions {
                _ = try? await store.registration.provide(RegistrationLibrary(number: number))
              }
            }
          }
        }
      }
      let connection = try await lane.connect(server)
      defer { connection.close() }
      try await Self.expectThere(versions, ShardStore(connection: connection, prefix: "{pp}"))
    }
  }

  @Test func `no clearing away of versions that nobody uses takes it away`() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      for _ in 0..<2 {
        #expect(try await store.libraries.sweep() == [])
        for name in try await Self.libraries(store) {
          _ = try await store.redis("ZINCRBY", store.keys.libraries, "-90000000", name)
        }
      }
      try await Self.expectThere(RegistrationLibrary.currentNumber, store)
      // Older versions sweep what is named like this.
      #expect(!RegistrationLibrary.current.name.hasPrefix("\(StoreLibrary.libraryName)_"))
    }
  }

  @Test func `the functions survive a restart, and work where no program has run since`()
    async throws
  {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await Lane.withServer(options) { lane, server in
      let before = try await lane.connect(server)
      try await ShardStore(connection: before, prefix: "{pp}").registration.provide()
      before.close()
      await server.kill9()
      try await server.restart()
      let after = try await lane.connect(server.endpoint, library: nil)
      defer { after.close() }
      try await Self.expectThere(
        RegistrationLibrary.currentNumber, ShardStore(connection: after, prefix: "{pp}"))
    }
  }

  @Test func `who may not replace a library in one transaction leaves the older one`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      try await store.registration.provide(RegistrationLibrary(number: 1))
      _ = try await store.redis("ACL", "SETUSER", "default", "-multi")
      let error = await failure {
        try await store.registration.provide(RegistrationLibrary(number: 2))
      }
      guard case .server("NOPERM", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      try await Self.expectThere(1, store)
    }
  }

  @Test func `functions of these names that are somebody else's stay, and that is an error`()
    async throws
  {
    try await Lane.withStore { _, store in
      let foreign = """
        #!lua name=theirs
        redis.register_function('pushpool_install', function() return 'theirs' end)
        """
      _ = try await store.redis("FUNCTION", "LOAD", foreign)
      let error = await failure { try await store.registration.provide() }
      #expect(error?.description.contains("already exists") == true)
      #expect(
        try await store.redis("FCALL", "pushpool_install", "0").string == "theirs")
    }
  }

  @Test func `a change of the functions has a number of its own`() {
    #expect(
      RegistrationLibrary.digest == RegistrationLibrary.currentDigest,
      """
      the functions for registration have changed: raise currentNumber, unless no release has had it, and set \
      currentDigest to the digest on the left
      """)
  }
}
