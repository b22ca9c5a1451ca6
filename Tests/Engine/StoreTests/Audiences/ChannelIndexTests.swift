import Model
import Redis
import Testing

@testable import Store

/// The index of a channel follows the channels of installations.
@Suite struct ChannelIndexTests {
  /// - Parameter channels: nil for an install that does not name them.
  private static func install(
    _ store: ShardStore, _ user: String, _ token: String, _ channels: [String]?
  ) async throws {
    var installation = Installation(
      app: "shop", user: user, token: DeviceToken(stored: token, network: .apns),
      channels: channels ?? [])
    installation.leavesChannels = channels?.isEmpty ?? false
    _ = try await store.installations.install(installation)
  }

  private static func members(_ store: ShardStore, _ channel: String) async throws -> [String] {
    try await store.members(of: .channel(channel))
  }

  @Test func `a user is in a channel while an installation is`() async throws {
    try await Lane.withStore { _, store in
      try await Self.install(store, "ann", "aa", ["giants", "news"])
      try await Self.install(store, "ann", "bb", ["giants"])
      try await Self.install(store, "bob", "cc", ["news"])
      #expect(try await Self.members(store, "giants") == ["ann"])
      #expect(try await Self.members(store, "news") == ["ann", "bob"])
      // What is not named stays; another list takes its place; an empty one ends all.
      try await Self.install(store, "ann", "aa", nil)
      #expect(try await Self.members(store, "news") == ["ann", "bob"])
      try await Self.install(store, "ann", "aa", ["sport"])
      #expect(try await Self.members(store, "news") == ["bob"])
      #expect(try await Self.members(store, "giants") == ["ann"], "the other device is in it")
      #expect(try await Self.members(store, "sport") == ["ann"])
      try await Self.install(store, "ann", "bb", [])
      #expect(try await Self.members(store, "giants") == [])
      #expect(try await store.binding("bb")?.installation.channels == [])
      let token = DeviceToken(stored: "aa", network: .apns)
      _ = try await store.installations.uninstall(app: "shop", token: token)
      #expect(try await Self.members(store, "sport") == [])
    }
  }

  @Test func `channels are told with their users, whatever their names, and beside topics and all`()
    async throws
  {
    try await Lane.withStore { _, store in
      let names = ["giants", "a:b", "100%", "%3A", "topic:x"]
      try await Self.install(store, "ann", "aa", names)
      try await Self.install(store, "bob", "bb", ["giants"])
      _ = try await store.audiences.subscribe([
        Subscription(app: "shop", topic: "giants", user: "eve")
      ])
      let sizes = try await store.audiences.sizes(app: "shop")
      let channels = sizes.compactMap { size in size.index.channel.map { ($0, size.users) } }
      #expect(
        Dictionary(uniqueKeysWithValues: channels)
          == ["giants": 2, "a:b": 1, "100%": 1, "%3A": 1, "topic:x": 1])
      #expect(sizes.first { $0.index == .all }?.users == 2)
      #expect(sizes.first { $0.index == .topic("giants") }?.users == 1)
      #expect(sizes.count == names.count + 2)
    }
  }

  @Test func `a token that moves, or is called dead, takes its owner out of its channels`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await Self.install(store, "ann", "aa", ["giants", "news"])
      try await Self.install(store, "bob", "aa", ["news"])
      #expect(try await Self.members(store, "giants") == [])
      #expect(try await Self.members(store, "news") == ["bob"])
      try await Self.install(store, "eve", "aa", nil)
      #expect(
        try await Self.members(store, "news") == [], "the former owner's channels are not hers")
      try await Self.install(store, "eve", "aa", ["news"])
      let generation = try #require(try await store.binding("aa")).generation
      _ = try await store.installations.invalidate(
        app: "shop",
        Settlement.Invalidation(
          network: .apns, token: "aa", user: "eve", generation: generation, sinceMs: nil,
          reason: "Unregistered"), job: "j1")
      #expect(try await Self.members(store, "news") == [])
    }
  }

  @Test func `a device that makes room leaves its channels, unless the new one is in them`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await Self.install(store, "ann", "aa", ["giants", "news"])
      for number in 1..<Limits.installationsPerUserMax {
        try await store.install("ann", "bb\(1_000 + number)")
      }
      try await Self.install(store, "ann", "cc", ["news"])
      #expect(try await store.binding("aa") == nil)
      #expect(try await Self.members(store, "giants") == [])
      #expect(try await Self.members(store, "news") == ["ann"])
    }
  }

  @Test func `users of many devices in many channels leave them a part at a time`() async throws {
    try await Lane.withStore { _, store in
      let names = (0..<12).map { "c\($0)" }
      func batch(_ device: Int, owner: String, _ channels: [String]) async throws {
        let installations = (0..<StoreLimits.importBatchMax).map { user in
          Installation(
            app: "shop", user: "\(owner)\(user)",
            token: DeviceToken(stored: "\(1_000 + device)\(1_000 + user)", network: .apns),
            channels: channels)
        }
        _ = try await store.installations.importBatch(installations)
      }
      for device in 0..<12 { try await batch(device, owner: "ann", names + ["of \(device)"]) }
      let before = try await store.commandCount()
      try await batch(0, owner: "bob", [])
      #expect(try await store.commandCount() - before < 1_500)
      var calls = 0
      while try await store.redis("EXISTS", store.keys.leaving).integer == 1, calls < 1_000 {
        calls += 1
        let moved = try await store.chunks.promote(max: 64)
        #expect(moved.nextDueMs.map { $0 <= 10 } ?? true, "promote is to come again")
      }
      #expect(calls > 5 && calls < 100, "\(calls) calls")
      #expect(try await Self.members(store, "of 0") == [], "they have no such device any more")
      for name in names + ["of 1"] {
        #expect(try await Self.members(store, name).count == StoreLimits.importBatchMax)
      }
    }
  }

  @Test func `a settlement of dead tokens in many channels leaves them a part at a time`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = (0..<40).map { "ann\($0)" }
      let names = (0..<50).map { "c\($0)" }
      for user in users { try await Self.install(store, user, "t-\(user)", names) }
      try await store.admit("j1", users: [users])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.tallies = [
        Settlement.Tally(network: .apns, environment: .production, answers: 1_000, misfits: 0)
      ]
      for user in users {
        let token = try #require(try await store.tokens(of: user).first)
        let generation = try #require(try await store.binding(token)).generation
        settlement.resolveUser(installations: 1)
        settlement.invalidations.append(
          Settlement.Invalidation(
            network: .apns, token: token, user: user, generation: generation, sinceMs: nil,
            reason: "Unregistered"))
      }
      let before = try await store.commandCount()
      let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
      #expect(answer.uninstalled == users.count)
      #expect(try await store.commandCount() - before < 1_500)
      #expect(try await store.redis("EXISTS", store.keys.leaving).integer == 1)
      var calls = 0
      while try await store.redis("EXISTS", store.keys.leaving).integer == 1, calls < 1_000 {
        calls += 1
        _ = try await store.chunks.promote(max: 64)
      }
      for name in names { #expect(try await Self.members(store, name) == []) }
    }
  }

  @Test func `names that look like parts of keys are channels of their own`() async throws {
    try await Lane.withStore { _, store in
      let names = ["a", "a:b", "a%3Ab", "a%", ":", "b", "日本:"]
      for (number, name) in names.enumerated() {
        try await Self.install(store, "b:\(number)", "aa0\(number)", [name])
      }
      for (number, name) in names.enumerated() {
        #expect(try await Self.members(store, name) == ["b:\(number)"])
        #expect(try await store.admit("j\(number)", to: .channel(name)) == .admitted)
        #expect(try await store.work("j\(number)") == ["b:\(number)"])
      }
    }
  }

  @Test func `channels of installations that an older version bound are found`() async throws {
    try await Lane.withStore { _, store in
      try await Self.install(store, "ann", "aa", ["giants"])
      try await Self.install(store, "ann", "bb", ["news"])
      try await store.install("bob", "cc", app: "game")
      for key in try await store.allKeys()
      where [":index:", ":block:", ":audiences:", ":indexed"].contains(where: key.contains) {
        _ = try await store.redis("DEL", key)
      }
      #expect(try await store.admit("j1", to: .channel("giants")) == .notIndexed)
      var walk = IndexWalk()
      while !walk.isOver { walk = try await store.audiences.indexUsers(app: "shop", walk) }
      #expect(walk.found == 1 && walk.added == 1)
      for channel in ["giants", "news"] {
        #expect(try await Self.members(store, channel) == ["ann"])
      }
      #expect(try await store.admit("j2", to: .channel("giants")) == .admitted)
    }
  }

  @Test func `to install again with the same channels costs no command of an index`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await Self.install(store, "ann", "aa", ["giants", "news"])
      let before = try await store.commandCount(beginningWith: "z")
      try await Self.install(store, "ann", "aa", ["giants", "news"])
      try await Self.install(store, "ann", "aa", nil)
      #expect(try await store.commandCount(beginningWith: "z") == before)
    }
  }
}
