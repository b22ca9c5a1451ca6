import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Reactor
import Redis
import Store
import Synchronization
import Testing
import TestSupport

/// A session that is opened before Redis is there, or outlives it.
@Suite struct StoreSessionTests {
  private static let client = StoreSession.Client(name: "pushpool-test", version: "0")

  /// What a session says of its connection, one word after another.
  private final class Changes: Sendable {
    private let told = Mutex<[String]>([])
    private let (stream, source) = AsyncStream<String>.makeStream()

    func note(_ failure: StoreFailure?) {
      let word = failure?.description ?? "ready"
      told.withLock { $0.append(word) }
      source.yield(word)
    }

    var all: [String] { told.withLock { $0 } }

    /// Waits for one that holds these words.
    func wait(for part: String) async {
      for await word in stream where word.contains(part) { return }
    }
  }

  private static func opening(
    _ url: String, on loop: EventLoop, as user: DocumentedUser = .operator, _ changes: Changes
  ) async throws -> StoreSession {
    try await StoreSession.opening(
      Configuration(redis: RedisConfiguration(url: RedisURL(url))), as: user, for: client,
      on: loop
    ) { changes.note($1) }
  }

  private static func ping(_ session: StoreSession) async throws(StoreFailure) -> String? {
    try await session.run(in: .home) { store throws(RedisError) in
      try await store.connection.call(RedisCommand("PING")).string
    }
  }

  @Test("a session without Redis is there at once, and whatever it is asked fails at once")
  func away() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("none.sock")
    let lane = try TestLane()
    let changes = Changes()
    let session = try await Self.opening("unix://\(socket)", on: lane.loop, changes)
    for _ in 0..<100 {
      let failure = await #expect(throws: StoreFailure.self) { _ = try await Self.ping(session) }
      #expect(failure?.kind == .unavailable)
      #expect(failure?.description.contains(socket) == true, "\(failure?.description ?? "")")
    }
    await changes.wait(for: socket)
    await session.close()
    #expect(!changes.all.contains("ready"))
    // Open says so itself.
    let refusal = await #expect(throws: StoreFailure.self) {
      _ = try await StoreSession.open(
        Configuration(redis: RedisConfiguration(url: RedisURL("unix://\(socket)"))), as: .operator,
        for: Self.client,
        on: lane.loop)
    }
    #expect(refusal?.description.contains("cannot use Redis at unix://\(socket)") == true)
  }

  @Test("with one shard what the fleet has once stands beside it, by the same prefix")
  func home() async throws {
    try await RedisServer.with { redis in
      let lane = try TestLane()
      let session = try await StoreSession.open(
        Configuration(redis: RedisConfiguration(url: RedisURL(redis.url))), as: .operator,
        for: Self.client,
        on: lane.loop)
      #expect(session.shards == [.only])
      try await session.atHome { fleet throws(RedisError) in
        try await fleet.acts.add(Act("key.create"), by: "ann", from: "192.0.2.1", nowMs: 1)
      }
      let (ids, count) = try await session.ask(in: .all) { stores throws(RedisError) in
        let store = stores[0]
        let count = try await store.connection.call(
          RedisCommand("XLEN", store.keys.acts)
        ) { $0.integer }
        return (stores.map(\.id), count)
      }
      #expect(ids == [.only] && count == 1)
      await session.close()
      await #expect(throws: StoreFailure.self) {
        _ = try await session.atHome { fleet throws(RedisError) in
          try await fleet.acts.page(max: 1)
        }
      }
    }
  }

  @Test("a session works when Redis comes, fails while it is away, and works again when it is back")
  func recovers() async throws {
    try await RedisServer.with { redis in
      let lane = try TestLane()
      let changes = Changes()
      await redis.stop()
      let session = try await Self.opening(redis.url, on: lane.loop, changes)
      await changes.wait(for: redis.socketPath)
      try await redis.restart()
      await changes.wait(for: "ready")
      #expect(try await Self.ping(session) == "PONG")
      await redis.stop()
      await changes.wait(for: redis.socketPath)
      let failure = await #expect(throws: StoreFailure.self) { _ = try await Self.ping(session) }
      #expect(failure?.kind == .unavailable)
      try await redis.restart()
      await changes.wait(for: "ready")
      #expect(try await Self.ping(session) == "PONG")
      await session.close()
    }
  }

  @Test("the functions that other clients call are there again after a Redis that has lost them")
  func functions() async throws {
    try await RedisServer.with { redis in
      let lane = try TestLane()
      let changes = Changes()
      let session = try await Self.opening(redis.url, on: lane.loop, changes)
      // It keeps nothing.
      for _ in 0..<2 {
        await changes.wait(for: "ready")
        // The first command behind those that load them.
        var installed = false
        let deadline = ContinuousClock.now + .seconds(60)
        while !installed, ContinuousClock.now < deadline {
          installed =
            (try? await session.run(in: .home) { store throws(RedisError) in
              var call = RedisCommand("FCALL", "pushpool_devices", "1", "pushpool")
              call.append(#"{"app": "shop", "user": "u"}"#)
              return try await store.connection.call(call).string
            }) == "[]"
        }
        #expect(installed)
        try await redis.restart()
      }
      await session.close()
    }
  }

  @Test("a configuration that cannot be used is refused at once")
  func misconfigured() async throws {
    let lane = try TestLane()
    var configuration = RedisConfiguration()
    configuration.passwordFile = "/nonexistent"
    let refused = Configuration(redis: configuration)
    let failure = await #expect(throws: StoreFailure.self) {
      _ = try await StoreSession.opening(
        refused, as: .operator, for: Self.client, on: lane.loop
      ) { _, _ in }
    }
    #expect(failure?.kind == .misconfigured)
  }
}
