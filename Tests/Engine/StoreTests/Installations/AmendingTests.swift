import Model
import Redis
import Testing
import TestSupport

@testable import Store

/// Installations that are changed in part.
@Suite struct AmendingTests {
  private static func full() -> Installation {
    var installation = Installation(
      app: "shop", user: "u1", token: DeviceToken(stored: "aa", network: .apns),
      environment: .development,
      device: Installation.Device(type: "phone", appName: "Shop", language: "de"),
      channels: ["a", "b"], custom: ["x": "1", "y": "2"])
    installation.badge = 2
    installation.kind = .voip
    return installation
  }

  @Test func `what it is to have replaces what was read, and what it has of its own stays`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.installations.install(Self.full())
      // Something that only a later version knows.
      _ = try await store.redis("HSET", "{pp}:token:apns:shop:aa", "later", "1")
      let before = try #require(try await store.binding("aa"))
      var after = before.installation
      after.device.language = nil
      after.device.appVersion = "2"
      after.badge = nil
      after.kind = .alert
      after.environment = .production
      after.channels = ["b", "c"]
      after.custom = ["y": "3"]
      after.updatedAtMs = nil
      let answer = try await store.installations.amend(before, to: after)
      let read = try #require(try await store.binding("aa"))
      #expect(answer == .amended(read))
      #expect(read.generation > before.generation)
      after.updatedAtMs = read.installation.updatedAtMs
      #expect(read.installation == after)
      #expect(read.installation.createdAtMs == before.installation.createdAtMs)
      #expect(try await store.redis("HGET", "{pp}:token:apns:shop:aa", "later").string == "1")
      let sizes = try await store.audiences.sizes(app: "shop").map(\.index)
      #expect(sizes == [.all, .channel("b"), .channel("c")])
    }
  }

  @Test func `without channels it leaves those that it was in`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.installations.install(Self.full())
      let before = try #require(try await store.binding("aa"))
      var after = before.installation
      after.channels = []
      _ = try await store.installations.amend(before, to: after)
      #expect(try await store.binding("aa")?.installation.channels == [])
      #expect(try await store.audiences.sizes(app: "shop").map(\.index) == [.all])
    }
  }

  @Test func `what was changed since it was read is not changed again`() async throws {
    try await Lane.withStore { _, store in
      let token = DeviceToken(stored: "aa", network: .apns)
      try await store.install("u1", "aa")
      let before = try #require(try await store.binding("aa"))
      var after = before.installation
      after.device.language = "de"
      // The generation, the badge, the owner.
      try await store.install("u1", "aa")
      #expect(try await store.installations.amend(before, to: after) == .changed)
      let renewed = try #require(try await store.binding("aa"))
      _ = try await store.badges.set(3, app: "shop", user: "u1", token: nil)
      #expect(try await store.installations.amend(renewed, to: after) == .changed)
      try await store.install("u2", "aa")
      #expect(try await store.installations.amend(renewed, to: after) == .changed)
      #expect(try await store.binding("aa")?.installation.device.language == nil)
      _ = try await store.installations.uninstall(app: "shop", token: token)
      #expect(try await store.installations.amend(renewed, to: after) == .absent)
      #expect(try await store.binding("aa") == nil)
    }
  }

  @Test func `a batch of installs has an answer for each, and one that fails hurts no other`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.redis("SET", "{pp}:token:apns:shop:bb", "x")
      let answers = await store.installations.installEach(
        ["aa", "bb", "cc"].map {
          Installation(app: "shop", user: "u1", token: DeviceToken(stored: $0, network: .apns))
        })
      try #require(answers.count == 3)
      #expect(try answers[0].get().status == .created)
      #expect(throws: RedisError.self) { _ = try answers[1].get() }
      #expect(try answers[2].get().status == .created)
      #expect(try await store.tokens(of: "u1") == ["aa", "cc"])
    }
  }

  @Test func `all bindings of a user are removed, also those that are half there`() async throws {
    try await Lane.withStore { _, store in
      for token in ["aa", "bb", "cc"] { try await store.install("u1", token) }
      try await store.install("u2", "dd")
      _ = try await store.redis("DEL", "{pp}:token:apns:shop:bb")
      #expect(try await store.installations.uninstallAll(app: "shop", user: "u1") == 3)
      #expect(try await store.installations.uninstallAll(app: "shop", user: "u1") == 0)
      #expect(try await store.redis("EXISTS", "{pp}:user:shop:u1").integer == 0)
      #expect(try await store.tokens(of: "u2") == ["dd"])
    }
  }
}
