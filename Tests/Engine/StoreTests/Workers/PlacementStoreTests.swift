import Model
import Reactor
import Redis
import Testing
import TestSupport

@testable import Store

/// What a shard of a fleet of several knows of its place.
@Suite struct PlacementStoreTests {
  @Test("the first shard that claims a place has it, and every other is told whose it is")
  func claims() async throws {
    try await Lane.withStore { _, store in
      let (main, eu) = (try ShardID("main"), try ShardID("eu"))
      #expect(try await store.placement.name() == nil)
      #expect(try await store.placement.claim(for: main) == .isOurs)
      #expect(try await store.placement.claim(for: main) == .isOurs)
      #expect(try await store.placement.claim(for: eu) == .isOther(name: "main"))
      #expect(try await store.placement.name() == "main")
    }
  }

  @Test("a place without a name that has users of an app of another shard is not claimed")
  func others() async throws {
    try await Lane.withStore { _, store in
      let eu = try ShardID("eu")
      try await store.registration.provide()
      _ = try await store.register(Self.documents[0].0, Self.documents[0].1)
      let claim = try await store.placement.claim(for: eu, unlessOf: ["news", "shop"])
      #expect(claim == .has(app: "shop"))
      #expect(
        claim.refusal(of: eu)?.contains("users of shop, which lives in another shard") == true)
      #expect(try await store.placement.standing(for: eu, unlessOf: ["shop"]) == claim)
      #expect(try await store.placement.standing(for: eu, unlessOf: []) == nil)
      #expect(try await store.placement.name() == nil)
      #expect(try await store.placement.claim(for: eu, unlessOf: ["news"]) == .isOurs)
      // What has its name is believed.
      #expect(try await store.placement.claim(for: eu, unlessOf: ["shop"]) == .isOurs)
    }
  }

  @Test("a full Redis says which shard it is")
  func full() async throws {
    try await Lane.withStore { _, store in
      let main = try ShardID("main")
      #expect(try await store.placement.claim(for: main) == .isOurs)
      _ = try await store.redis("CONFIG", "SET", "maxmemory", "1")
      #expect(try await store.placement.claim(for: main) == .isOurs)
      _ = try await store.redis("DEL", "{pp}:shard")
      await #expect(throws: RedisError.self) {
        _ = try await store.placement.claim(for: main)
      }
    }
  }

  @Test(
    "a connection to a place that is another shard does not come about, also when it is made anew")
  func marks() async throws {
    try await Lane.withServer { lane, server in
      let plain = try await lane.connect(server)
      defer { plain.close() }
      let store = ShardStore(connection: plain, prefix: "{pp}")
      let eu = try ShardID("eu")
      var endpoint = server.endpoint
      endpoint.expect(eu, prefix: "{pp}")
      // One without a name will do.
      let connection = try await lane.connect(endpoint, library: nil)
      defer { connection.close() }
      #expect(try await store.placement.claim(for: eu) == .isOurs)
      _ = try await store.redis("SET", "{pp}:shard", "us")
      _ = try await store.redis("CLIENT", "KILL", "TYPE", "normal")
      var refusal: RedisError?
      for _ in 0..<2_000 where refusal == nil {
        do throws(RedisError) { _ = try await connection.call(RedisCommand("PING")) } catch {
          if "\(error)".contains("us already") { refusal = error }
        }
        await lane.loop.sleep(ms: 5)
      }
      #expect(refusal != nil && !connection.isReady)
      _ = try await store.redis("DEL", "{pp}:shard")
      try await connection.waitUntilReady(timeoutMs: 30_000)
    }
  }

  @Test(
    "a connection that is to find a name does not come about where there is none, and does when it is there"
  )
  func nameless() async throws {
    try await Lane.withServer { lane, server in
      let plain = try await lane.connect(server)
      defer { plain.close() }
      let store = ShardStore(connection: plain, prefix: "{pp}")
      let eu = try ShardID("eu")
      var endpoint = server.endpoint
      endpoint.expect(eu, prefix: "{pp}") { "it has no name" }
      let connection = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      defer { connection.close() }
      connection.connect()
      var refusal: RedisError?
      for _ in 0..<2_000 where refusal == nil {
        do throws(RedisError) { _ = try await connection.call(RedisCommand("PING")) } catch {
          if "\(error)".contains("it has no name") { refusal = error }
        }
        await lane.loop.sleep(ms: 5)
      }
      #expect(refusal != nil && !connection.isReady)
      #expect(try await store.placement.claim(for: eu) == .isOurs)
      try await connection.waitUntilReady(timeoutMs: 30_000)
      // One that does not show it has none.
      _ = try await store.redis("DEL", "{pp}:shard")
      _ = try await store.redis("HSET", "{pp}:shard", "name", "eu")
      let another = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      defer { another.close() }
      another.connect()
      refusal = nil
      for _ in 0..<2_000 where refusal == nil {
        do throws(RedisError) { _ = try await another.call(RedisCommand("PING")) } catch {
          if "\(error)".contains("it has no name") { refusal = error }
        }
        await lane.loop.sleep(ms: 5)
      }
      #expect(refusal != nil && !another.isReady)
      // Whoever does not ask for it may look there.
      endpoint.expect(eu, prefix: "{pp}")
      try await lane.connect(endpoint, library: nil).close()
    }
  }

  @Test("where apps live is told and taken back, and what another configuration says stays")
  func elsewhere() async throws {
    try await Lane.withStore { _, store in
      func all() async throws -> [String: String] {
        Dictionary(
          try await store.connection.call(RedisCommand("HGETALL", store.keys.elsewhere)).pairs,
          uniquingKeysWith: { $1 })
      }
      func keep(_ elsewhere: [String: String], here: [String]) async throws -> [String] {
        try await store.placement.keep(elsewhere: elsewhere, here: here)
      }
      let changed = try await keep(["shop": "eu", "news": "us"], here: ["blog"])
      #expect(changed.isEmpty)
      #expect(try await keep(["shop": "eu"], here: ["blog"]).isEmpty)
      #expect(try await all() == ["shop": "eu", "news": "us"])
      #expect(try await keep(["shop": "c0"], here: ["blog"]) == ["shop"])
      #expect(try await all() == ["shop": "c0", "news": "us"])
      #expect(try await keep([:], here: ["shop", "blog"]) == ["shop"])
      #expect(try await all() == ["news": "us"])
    }
  }

  @Test("the home knows which shards there were")
  func missing() async throws {
    try await Lane.withStore { _, store in
      let first = try await store.placement.missing(in: ["main", "eu"], nowMs: 5)
      #expect(first.isEmpty)
      #expect(try await store.placement.missing(in: ["main", "us"], nowMs: 6) == ["eu"])
      #expect(try await store.redis("HGET", "{pp}:shards", "us").string == "6")
      #expect(try await store.redis("HGET", "{pp}:shards", "main").string == "5")
      #expect(try await store.placement.missing(in: ["main", "us", "eu"], nowMs: 7).isEmpty)
    }
  }

  private static let documents = [
    (
      "pushpool_install",
      #"{"app":"shop","user":"u","network":"fcm","token":"a-token-0123456789"}"#
    ),
    (
      "pushpool_create",
      #"{"app":"shop","user":"u","network":"fcm","token":"a-token-0123456789"}"#
    ),
    ("pushpool_uninstall", #"{"app":"shop","network":"fcm","token":"a-token-0123456789"}"#),
    ("pushpool_devices", #"{"app":"shop","user":"u"}"#),
    ("pushpool_subscribe", #"{"app":"shop","topic":"t","user":"u"}"#),
    ("pushpool_unsubscribe", #"{"app":"shop","topic":"t","user":"u"}"#),
  ]

  @Test(
    "no function does anything about an app in another shard than its own", arguments: documents)
  func refused(function: String, document: String) async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      let before = try await store.allKeys().count
      #expect(
        try await store.refusal(of: document, by: function)
          == "/app: shop lives in the shard \"eu\" of this fleet, and nothing was done here: call the "
          + "Redis of that shard")
      #expect(try await store.allKeys().count == before)
      // Others are taken, and so is the app when it lives here again.
      #expect(
        try await store.refusal(
          of: document.replacing("shop", with: "blog"), by: function) == nil)
      try await store.placement.keep(elsewhere: [:], here: ["shop"])
      #expect(try await store.refusal(of: document, by: function) == nil)
    }
  }

  @Test("where no app lives elsewhere that is asked again at one call in many, by prefix")
  func asksAgain() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      // Two prefixes, in turn: neither makes the other be asked about.
      let prefixes = ["{pp}", "{qq}"]
      func commands() async throws -> (looks: Int, times: Int) {
        (
          try await store.commandCount(beginningWith: "hget:"),
          try await store.commandCount(beginningWith: "time:")
        )
      }
      for (function, document) in Self.documents[2...] {
        let before = try await commands()
        for _ in 0..<64 {
          for prefix in prefixes {
            _ = try await store.register(function, document, prefix: prefix)
          }
        }
        let after = try await commands()
        #expect(after.looks - before.looks <= 2 * prefixes.count, "\(function)")
        #expect(after.times == before.times, "\(function)")
      }
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      let (function, document) = Self.documents[0]
      var calls = 0
      while calls < 200, try await store.refusal(of: document, by: function) == nil { calls += 1 }
      #expect(calls <= 64)
      // From then on at each call.
      for (function, document) in Self.documents {
        #expect(try await store.refusal(of: document, by: function) != nil, "\(function)")
      }
    }
  }

  /// A producer's rights before there were shards: neither to ask for the time nor to read where apps live.
  private static let formerProducer =
    "on nopass resetkeys resetchannels -@all +wait +ping +select +client|setname (%W~{pp}:jobs:* +xadd) "
    + "(%R~{pp}:jobs:* +xlen) (~{pp} ~{pp}:guard +fcall) (~{pp}:job:* +hgetall +hmget +hset +hdel +expire) "
    + "(~segment:* ~values:* +sadd +zadd +rpush +hset +expire +del)"

  /// The words of a line of rights, each part in parentheses one.
  private static func rules(_ line: String) -> [String] {
    var words: [String] = []
    for word in line.split(separator: " ").map({ String($0) }) {
      if let last = words.last, last.hasPrefix("("), !last.hasSuffix(")") {
        words[words.count - 1] = last + " " + word
      } else {
        words.append(word)
      }
    }
    return words
  }

  @Test("a producer with the rights of before submits jobs, and nobody else is let through for it")
  func formerRights() async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      try await store.registration.provide()
      var command = RedisCommand("ACL", "SETUSER", "producer")
      for rule in Self.rules(Self.formerProducer) { command.append(rule) }
      _ = try await connection.call(command)
      var endpoint = server.endpoint
      endpoint.user = "producer"
      endpoint.password = "any"
      let backend = try await lane.connect(endpoint, library: nil)
      defer { backend.close() }
      func submit(_ id: String) async throws -> String {
        let reply = try await backend.call(
          RedisCommand(
            "FCALL", "pushpool_submit", "2", "{pp}", "{pp}:guard", "normal",
            #"{"app":"shop","id":"\#(id)"}"#))
        return reply.string ?? ""
      }
      // More than are let through without a look.
      for number in 0..<70 { #expect(try await submit("a\(number)").contains("created")) }
      #expect(try await store.commandCount(beginningWith: "time:") == 0)
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      // The first that may read where apps live looks, whoever called before.
      let (function, document) = Self.documents[0]
      for number in 0..<70 {
        #expect(try await submit("b\(number)").contains("created"))
        #expect(try await store.refusal(of: document, by: function) != nil)
      }
      // Redis has nothing to log: who may not look is not made to.
      #expect(try await store.redis("ACL", "LOG") == .array([]))
    }
  }

  @Test("what is not in one database makes no call in another be let through")
  func databases() async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      var endpoint = server.endpoint
      endpoint.database = 1
      let second = try await lane.connect(endpoint, library: nil)
      defer { second.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      let other = ShardStore(connection: second, prefix: "{pp}")
      try await store.registration.provide()
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      for (function, document) in Self.documents {
        #expect(try await store.refusal(of: document, by: function) != nil, "\(function)")
        #expect(try await other.refusal(of: document, by: function) == nil, "\(function)")
      }
    }
  }

  @Test("a job is not submitted in another shard than its app's")
  func submission() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      func submit(_ app: String) async throws(RedisError) -> RESPValue {
        try await store.redis(
          "FCALL", "pushpool_submit", "1", "{pp}", "normal", #"{"app":"\#(app)","id":"j"}"#)
      }
      // It is the first call of any of these functions.
      var refusal: RedisError?
      do throws(RedisError) { _ = try await submit("shop") } catch { refusal = error }
      #expect(
        refusal.map { "\($0)" }?.contains("INVALID /app: shop lives in the shard \"eu\"") == true,
        "\(String(describing: refusal))")
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
      _ = try await submit("blog")
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
    }
  }

  @Test("a key of another type keeps nobody from registering")
  func unreadable() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      _ = try await store.redis("SET", "{pp}:elsewhere", "theirs")
      for (function, document) in Self.documents {
        #expect(try await store.refusal(of: document, by: function) == nil)
      }
      #expect(try await store.redis("GET", "{pp}:elsewhere").string == "theirs")
    }
  }

  @Test("a job that was added in its own shard is ended here by whoever holds it, with its record")
  func handedOver() async throws {
    try await Lane.withStore { _, store in
      func handOver(_ entry: JobEntry, _ id: String, by consumer: String) async throws -> Bool {
        try await store.routes.handOver(
          [(entry: entry, app: "shop", id: id)], consumer: consumer)[0].get()
      }
      try await store.registration.provide()
      _ = try await store.redis(
        "FCALL", "pushpool_submit", "1", "{pp}", "normal", #"{"app":"shop","id":"j"}"#)
      let taken = try await store.jobs.take(consumer: "worker", max: 1)
      let entry = try #require(taken.first)
      #expect(try await store.jobs.record(app: "shop", id: "j")?.state == .queued)
      #expect(try await !handOver(entry, "j", by: "another"))
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
      #expect(try await handOver(entry, "j", by: "worker"))
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
      #expect(try await store.jobs.record(app: "shop", id: "j") == nil)
      #expect(try await !handOver(entry, "j", by: "worker"))
      // A record of another job of the name stays.
      _ = try await store.redis("HSET", "{pp}:job:shop:k", "state", "done", "source", "n1-0")
      let other = try await store.takeNew()
      #expect(try await handOver(other, "k", by: "worker"))
      #expect(try await store.redis("HGET", "{pp}:job:shop:k", "state").string == "done")
    }
  }
}
