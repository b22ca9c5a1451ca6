import Model
import Operations
import Store
import Testing

/// The topics and channels of a fleet.
@Suite struct AudienceLookupTests {
  @Test func `the users of all shards are counted, and topics and channels listed by name`()
    async throws
  {
    try await Shards.withStores { _, stores in
      for (store, topics) in zip(stores, [["news", "goals"], ["news", "cups"]]) {
        _ = try await store.audiences.subscribe(
          topics.map { Subscription(app: "shop", topic: $0, user: "u-\(topics[1])") })
      }
      let installation = Installation(
        app: "shop", user: "u1", token: DeviceToken(stored: "aa", network: .apns),
        channels: ["giants"])
      _ = try await stores[1].installations.install(installation)
      let lookup = AudienceLookup(stores: stores)
      let topics = try await lookup.sizes(of: .topic, app: "shop")
      #expect(topics.map(\.name) == ["cups", "goals", "news"])
      #expect(topics.map(\.users) == [1, 1, 2])
      let channels = try await lookup.sizes(of: .channel, app: "shop")
      #expect(channels.map(\.name) == ["giants"] && channels.map(\.users) == [1])
      #expect(try await lookup.sizes(of: .topic, app: "game") == [])
    }
  }
}
