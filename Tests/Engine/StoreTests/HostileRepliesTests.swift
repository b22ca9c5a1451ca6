import LocalServices
import Model
import Reactor
import Redis
import Testing
import TestSupport

@testable import Store

/// Whatever Redis answers, a call of the store ends with a value or an error: a trap would end every worker of a fleet.
@Suite struct HostileRepliesTests {
  private typealias Call = @Sendable (ShardStore) async throws -> Void

  /// Every call whose reply is read.
  private static let calls: [(String, Call)] = [
    ("claim", { _ = try await $0.chunks.claimSome(consumer: "w", max: 4) }),
    ("reclaim", { _ = try await $0.chunks.reclaim(consumer: "w", leaseMs: 0, max: 4) }),
    ("promote", { _ = try await $0.chunks.promote(max: 10) }),
    ("take", { _ = try await $0.jobs.take(consumer: "w", max: 4, abandonedForMs: 0) }),
    ("held_back", { _ = try await $0.jobs.heldBackMs() }),
    ("record", { _ = try await $0.jobs.record(app: "shop", id: "j1") }),
    ("content", { _ = try await $0.jobs.content(app: "shop", id: "j1") }),
    (
      "submit",
      {
        _ = try await $0.jobs.submit(
          Array(#"{"app":"shop","id":"j1"}"#.utf8), priority: .normal, digest: nil)
      }
    ),
    ("text", { _ = try await $0.jobs.waiting.text(ofSource: "n1-1") }),
    (
      "departures",
      { store in
        let token = DeviceToken(stored: "aa", network: .apns)
        _ = try await store.installations.departure(
          app: "shop", token: token, nowMs: 1_790_000_000_000)
        _ = try await store.installations.departure(
          app: "shop", user: "a", nowMs: 1_790_000_000_000)
      }
    ),
    ("totals", { _ = try await $0.metrics.totals(max: 10_000) }),
    ("beating", { _ = try await $0.workers.beating(sinceMs: 0, max: 10) }),
    ("waiting notes", { _ = try await $0.backlog.waitingNotes() }),
    ("chunks by app", { _ = try await $0.backlog.chunksByApp() }),
    ("standings", { _ = try await $0.jobs.standings([(app: "shop", id: "j1")]) }),
    ("open jobs", { _ = try await $0.jobs.openJobs(cursor: "0") }),
    ("reconcile", { _ = try await $0.jobs.reconcile(app: "shop", id: "j1") }),
    ("pause", { _ = try await $0.jobs.pause(app: "shop", id: "j1") }),
    ("resume", { _ = try await $0.jobs.resume(app: "shop", id: "j1") }),
    (
      "find waiting",
      { _ = try await $0.jobs.waiting.search(id: "j9", priority: .normal, after: nil) }
    ),
    ("dead list", { _ = try await $0.deadLetters.list(max: 10) }),
    ("dead count", { _ = try await $0.deadLetters.count() }),
    ("devices", { _ = try await $0.installations.devices(app: "shop", user: "a") }),
    ("install", { _ = try await $0.install("a", "aa") }),
    (
      "import",
      { store in
        let token = DeviceToken(stored: "aa", network: .apns)
        let answer = try await store.installations.importBatch([
          Installation(app: "shop", user: "a", token: token)
        ])
        _ = answer.created &+ answer.updated
      }
    ),
    (
      "subscribe",
      { store in
        let subscription = Subscription(app: "shop", topic: "news", user: "a")
        _ = try await store.audiences.subscribe([subscription])
      }
    ),
    ("topics", { _ = try await $0.audiences.sizes(app: "shop") }),
    (
      "index users",
      { store in
        var walk = IndexWalk()
        for _ in 0..<3 { walk = try await store.audiences.indexUsers(app: "shop", walk) }
      }
    ),
    (
      "export",
      { store in
        var walk = KeyWalk()
        for _ in 0..<3 {
          walk = try await store.installations.export(app: nil, walk).walk
        }
      }
    ),
    (
      "export of subscribers",
      { store in
        var place: String? = ""
        for _ in 0..<3 {
          place = try await store.audiences.subscribers(
            app: "shop", topic: "news", behind: place ?? ""
          ).place
        }
      }
    ),
    ("status", { _ = try await $0.backlog.status().backlog }),
    ("workers", { _ = try await $0.workers.all() }),
    ("minute", { _ = try await $0.metrics.minute("202611211200") }),
    ("oldest", { _ = try await $0.backlog.oldestWaitingMs() }),
    ("beat", { _ = try await $0.workers.beat(worker: "w", fields: [("lanes", "1")]) }),
    ("alarms", { _ = try await $0.alarms.current(nowMs: 1_790_000_000_000) }),
    ("switches", { _ = try await $0.switches.read() }),
    ("glance", { _ = try await $0.switches.glance() }),
    (
      "rate",
      {
        _ = try await $0.fleet.rates.draw(RateLimit(name: "shop", perSecond: 100), wanted: 5)
      }
    ),
    ("trace", { _ = try await $0.traces.page(app: "shop", job: "j1") }),
    ("credential", { _ = try await $0.fleet.credentials.current("apns:K:T") }),
    (
      "token",
      { store in
        let token = Array("aa".utf8)
        let _: TokenBinding? = try await withReply { done in
          token.withUnsafeBytes {
            store.installations.resolve(app: "shop", network: .apns, token: $0, done)
          }
        }
      }
    ),
    (
      "users",
      { store in
        let users = Array("a\nb\nnobody\n".utf8)
        try await withReply { (done: @escaping (Result<Void, RedisError>) -> Void) in
          users.withUnsafeBytes { bytes in
            let lines = Array(SegmentLines(bytes))
            store.installations.resolve(app: "shop", users: lines[...]) { result in
              done(
                result.map { resolved in
                  // As the lanes do: one of each that was asked for.
                  for index in lines.indices { for line in resolved[index] { _ = line.token } }
                })
            }
          }
        }
      }
    ),
  ]

  private static func withReply<Value: Sendable>(
    _ send: (@escaping (Result<Value, RedisError>) -> Void) -> Void
  ) async throws -> Value {
    let result: Result<Value, RedisError> = await withUnsafeContinuation { continuation in
      send { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Something of every kind, so that replies have something to alter.
  private static func fill(_ store: ShardStore) async throws {
    for user in ["a", "b"] { try await store.install(user, user + user) }
    try await store.admit("j1", users: [["a", "b"], ["c"]], window: 1)
    _ = try await store.chunks.claim(consumer: "other", max: 1)
    _ = try await store.redis(
      "XADD", store.keys.dead, "*", "at", "1790000000000", "kind", "job", "reason", "r", "count",
      "5", "app", "shop", "id", "j7")
    _ = try await store.redis("HSET", store.keys.switches, "app|other", "{\"since\":1790000000000}")
    _ = try await store.redis(
      "HSET", store.keys.alarms, "breaker|shop|apns|production",
      "{\"at\":1790000000000,\"until\":1990000000000,\"message\":\"m\"}")
    _ = try await store.redis(
      "HSET", store.keys.metrics("202611211200"), "shop|apns|accepted", "12")
    _ = try await store.redis("HSET", store.keys.totals, "shop|apns|accepted", "12", "since", "9")
    _ = try await store.redis("HSET", store.keys.oldest, "at", "9", "low|since", "8")
    _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "job", "{\"id\":\"j9\"}")
    _ = try await store.redis(
      "XADD", store.keys.trace(app: "shop", job: "j1"), "*", "by", "w-0", "events", "3", "lines",
      "1790000000000\taccepted\tapns\tproduction\taa\ta\t1\t200\t\t12\taccepted\t\t5\t2\n")
    _ = try await store.workers.beat(worker: "w0", fields: [("lanes", "2")])
  }

  @Test("no reply traps, to whatever it was", arguments: [UInt64(1), 2, 3])
  func everyCall(seed: UInt64) async throws {
    try await Lane.withServer { lane, server in
      let direct = try await lane.connect(server)
      try await Self.fill(ShardStore(connection: direct, prefix: "{pp}"))
      let proxy = try AlteringRedis(
        loop: lane.loop, server: server.endpoint, seed: seed, perMille: 0)
      let connection = try await lane.connect(
        RedisEndpoint(endpoint: .tcp(host: "127.0.0.1", port: proxy.port)),
        library: StoreLibrary.library)
      let store = ShardStore(connection: connection, prefix: "{pp}")
      for (name, call) in Self.calls {
        proxy.perMille = 1_000
        for _ in 0..<60 {
          do { try await call(store) } catch {
            guard error is RedisError else { throw error }
          }
          // A reply that is no RESP of ours ends the connection.
          try await connection.waitUntilReady(timeoutMs: 30_000)
        }
        #expect(proxy.altered > 0, "\(name)")
      }
      connection.close()
      proxy.close()
      direct.close()
    }
  }

  @Test("a chunk entry that something else wrote holds up no other chunk")
  func foreignChunks() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let source = try await store.claimOne("other").source
      for (lines, crashes) in [("pigeons", "0"), ("users", "many"), ("", "-1")] {
        _ = try await store.redis(
          "XADD", store.keys.chunks(.normal), "*", "app", "shop", "job", "j1", "segment", "1",
          "source", source, "lines", lines, "crashes", crashes)
      }
      try await store.admit("j2", users: [["b"]])
      let claims = try await store.chunks.claim(consumer: "w", max: 8)
      #expect(claims.map(\.job) == ["j1", "j2"])
      #expect(claims.allSatisfy { $0.crashes == 0 && $0.lines == .users })
      let letters = try await store.deadLetters.list(max: 8)
      #expect(letters.map(\.reason) == ["malformed_chunk", "malformed_chunk"])
    }
  }

  @Test("leases and beats take the answer to what was asked, and no other number of them")
  func heartbeats() async throws {
    try await Lane.withServer { lane, server in
      let direct = try await lane.connect(server)
      let filled = ShardStore(connection: direct, prefix: "{pp}")
      try await filled.admit("j1", users: [["a"], ["b"], ["c"]])
      let claims = try await filled.chunks.claim(consumer: "w", max: 3)
      #expect(claims.count == 3)
      let proxy = try AlteringRedis(
        loop: lane.loop, server: server.endpoint, seed: 7, perMille: 1_000)
      let connection = try await lane.connect(
        RedisEndpoint(endpoint: .tcp(host: "127.0.0.1", port: proxy.port)),
        library: StoreLibrary.library)
      let store = ShardStore(connection: connection, prefix: "{pp}")
      for _ in 0..<200 {
        do throws(RedisError) {
          let standings = try await store.chunks.heartbeat(claims, consumer: "w")
          #expect(standings.count == claims.count)
        } catch {}
        do throws(RedisError) {
          let lease = try await store.fleet.rates.draw(
            RateLimit(name: "shop", perSecond: 100), wanted: 5)
          #expect((0...5).contains(lease.granted))
        } catch {}
        do throws(RedisError) {
          // A lane that waited for as long as it is told would take no job any more.
          if let heldMs = try await store.jobs.heldBackMs() { #expect(heldMs <= 1_000) }
        } catch {}
        do throws(RedisError) {
          if let dueMs = try await store.chunks.promote(max: 1).nextDueMs {
            #expect(dueMs <= UInt64(Int.max))
          }
        } catch {}
        try await connection.waitUntilReady(timeoutMs: 30_000)
      }
      connection.close()
      proxy.close()
      direct.close()
    }
  }

  @Test(arguments: ["", "x", "99999999999999999999999-1", "-1-0"])
  func `a claim whose entry is none is refused where it comes in`(entry: String) async throws {
    try await Lane.withStore { _, store in
      let reply =
        "return {'normal', ARGV[1], 'shop', 'j1', '1', 'n1-0', '0', '1', 'users', '', 'a'}"
      await #expect(throws: RedisError.self) {
        try await store.connection.call(RedisCommand("EVAL", reply, "0", entry)) {
          reply throws(RedisError) in
          try ChunkClaim(reply)
        }
      }
    }
  }
}
