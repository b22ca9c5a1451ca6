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
      #expect(try await store.placement.claim(for: main) == "main")
      #expect(try await store.placement.claim(for: main) == "main")
      #expect(try await store.placement.claim(for: eu) == "main")
      #expect(try await store.placement.name() == "main")
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
      try await store.placement.keep(elsewhere: ["shop": "eu", "news": "us"], here: ["blog"])
      #expect(try await all() == ["shop": "eu", "news": "us"])
      try await store.placement.keep(elsewhere: ["shop": "c0"], here: ["blog"])
      #expect(try await all() == ["shop": "c0", "news": "us"])
      try await store.placement.keep(elsewhere: [:], here: ["shop", "blog"])
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

  @Test("where no app lives elsewhere that is asked again within moments, not at each call")
  func asksAgain() async throws {
    try await Lane.withStore { lane, store in
      try await store.registration.provide()
      let (function, document) = Self.documents[0]
      #expect(try await store.refusal(of: document, by: function) == nil)
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      var refusal: String?
      for _ in 0..<3_000 where refusal == nil {
        refusal = try await store.refusal(of: document, by: function)
        await lane.loop.sleep(ms: 20)
      }
      #expect(refusal?.contains("shop lives in the shard") == true)
    }
  }

  @Test("a job is not submitted in another shard than its app's")
  func submission() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      try await store.placement.keep(elsewhere: ["shop": "eu"], here: [])
      func submit(_ app: String) async throws -> RESPValue {
        try await store.redis(
          "FCALL", "pushpool_submit", "1", "{pp}", "normal", #"{"app":"\#(app)","id":"j"}"#)
      }
      await #expect(throws: RedisError.self) { _ = try await submit("shop") }
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
      _ = try await submit("blog")
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
    }
  }

  @Test("a key of another type, or one that may not be read, keeps nobody from registering")
  func unreadable() async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      _ = try await store.redis("SET", "{pp}:elsewhere", "theirs")
      for (function, document) in Self.documents {
        #expect(try await store.refusal(of: document, by: function) == nil)
      }
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
