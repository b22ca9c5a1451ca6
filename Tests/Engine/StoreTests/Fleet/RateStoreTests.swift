import LocalServices
import Model
import Redis
import Testing

@testable import Store

@Suite struct RateStoreTests {
  private static func nowMs(_ store: ShardStore) async throws -> Double {
    let time = try await store.redis("TIME").array ?? []
    return Double(time[0].integer ?? 0) * 1_000 + Double(time[1].integer ?? 0) / 1_000
  }

  @Test func `two clients together are granted no more than rate times time and a burst`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connections = [try await lane.connect(server), try await lane.connect(server)]
      defer { for connection in connections { connection.close() } }
      let stores = connections.map { ShardStore(connection: $0, prefix: "{pp}") }
      let rate = RateLimit(name: "app:shop", perSecond: 2_000)
      let startMs = try await Self.nowMs(stores[0])
      var (granted, nowMs) = (0, startMs)
      while nowMs - startMs < 700 {
        for store in stores {
          granted += try await store.fleet.rates.draw(rate, wanted: 37).granted
        }
        nowMs = try await Self.nowMs(stores[1])
        #expect(Double(granted) <= (nowMs - startMs) * 2 + 200)
      }
      #expect(granted > 200)
      // Half a burst's time fills half of an empty bucket.
      let key = stores[0].keys.rate("app:shop")
      _ = try await stores[0].redis("HSET", key, "tokens", "0", "at", "\(nowMs - 50)")
      #expect((100...200).contains(try await stores[1].fleet.rates.draw(rate, wanted: 500).granted))
    }
  }

  @Test func `an empty bucket says when to ask again, and a wait makes it no fuller than a burst`()
    async throws
  {
    try await Lane.withStore { _, store in
      let rate = RateLimit(name: "slow", perSecond: 0.02)
      #expect(try await store.fleet.rates.draw(rate, wanted: 5).granted == 1)
      let empty = try await store.fleet.rates.draw(rate, wanted: 5)
      // Fifty seconds would be right: nobody sleeps so long on a word that may change.
      #expect(empty.granted == 0 && empty.retryMs == 1_000)
      let quick = RateLimit(name: "quick", perSecond: 4)
      let later = try await Self.nowMs(store) + 3_600_000
      _ = try await store.redis("HSET", store.keys.rate("quick"), "tokens", "0", "at", "\(later)")
      #expect(try await store.fleet.rates.draw(quick, wanted: 5).retryMs == 250)
      // An hour passes on the bucket's clock.
      let key = store.keys.rate("slow")
      let at = try await Self.nowMs(store) - 3_600_000
      _ = try await store.redis("HSET", key, "at", "\(at)")
      #expect(try await store.fleet.rates.draw(rate, wanted: 5).granted == 1)
      #expect((1...60).contains(try await store.redis("TTL", key).integer ?? 0))
      // The clock was set back: nothing is granted for that, and time goes on.
      _ = try await store.redis("HSET", key, "at", "\(at + 7_200_000)")
      #expect(try await store.fleet.rates.draw(rate, wanted: 5).granted == 0)
      #expect(
        abs(Double(try await store.redis("HGET", key, "at").string ?? "")! - at - 3_600_000)
          < 60_000)
    }
  }

  @Test func `a rate with a ramp begins with a fifth, and again when it was idle`() async throws {
    try await Lane.withStore { _, store in
      let rate = RateLimit(name: "fcm:p", perSecond: 10_000, rampMs: 10_000)
      #expect(try await store.fleet.rates.draw(rate, wanted: 5_000).granted == 200)
      let key = store.keys.rate("fcm:p")
      func set(agoMs at: Double, sinceAgoMs since: Double) async throws {
        let nowMs = try await Self.nowMs(store)
        _ = try await store.redis("HSET", key, "at", "\(nowMs - at)", "since", "\(nowMs - since)")
      }
      try await set(agoMs: 1_000, sinceAgoMs: 5_000)
      #expect((600...700).contains(try await store.fleet.rates.draw(rate, wanted: 5_000).granted))
      try await set(agoMs: 1_000, sinceAgoMs: 50_000)
      #expect(try await store.fleet.rates.draw(rate, wanted: 5_000).granted == 1_000)
      try await set(agoMs: 11_000, sinceAgoMs: 50_000)
      #expect(try await store.fleet.rates.draw(rate, wanted: 5_000).granted == 200)
    }
  }
}
