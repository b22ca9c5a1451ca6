import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// What a token is for, in its record and in its user's line.
@Suite struct TokenKindStoreTests {
  private func install(
    _ store: ShardStore, _ user: String, _ token: String, _ kind: TokenKind = .alert
  ) async throws {
    var installation = Installation(
      app: "shop", user: user, token: DeviceToken(stored: token, network: .apns))
    installation.kind = kind
    _ = try await store.installations.install(installation)
  }

  /// The kinds and tokens of a user's lines.
  private func lines(_ store: ShardStore, _ user: String) async throws -> [String] {
    let text = try await store.redis("GET", store.keys.user(app: "shop", user: user)).string ?? ""
    return Array(text.utf8).withUnsafeBytes { bytes in
      BindingLines(bytes).map { "\($0.kind.rawValue) \(String(decoding: $0.token, as: UTF8.self))" }
    }
  }

  @Test("a kind is kept, changes with a new install, and goes with the token to another user")
  func keepsKind() async throws {
    try await Lane.withStore { _, store in
      try await install(store, "u1", "aa", .voip)
      try await install(store, "u1", "bb")
      #expect(try await lines(store, "u1") == ["voip aa", "alert bb"])
      #expect(
        try await store.installations.devices(app: "shop", user: "u1").map(\.installation.kind) == [
          .voip, .alert,
        ])
      try await install(store, "u1", "aa", .liveActivity)
      #expect(try await lines(store, "u1") == ["alert bb", "liveactivity aa"])
      try await install(store, "u1", "aa")
      #expect(try await lines(store, "u1") == ["alert bb", "alert aa"])
      let record = try await store.installations.installation(
        app: "shop", token: DeviceToken(stored: "aa", network: .apns))
      #expect(record?.installation.kind == .alert)
      try await install(store, "u2", "bb", .voip)
      #expect(try await lines(store, "u1") == ["alert aa"])
      #expect(try await lines(store, "u2") == ["voip bb"])
    }
  }

  @Test("what removes a token removes one of any kind, and evicts the oldest of any kind")
  func removesKind() async throws {
    try await Lane.withStore { _, store in
      try await install(store, "u1", "aa", .voip)
      try await install(store, "u1", "bb", .liveActivity)
      for number in 2..<Limits.installationsPerUserMax {
        try await install(store, "u1", "cc\(number)")
      }
      try await install(store, "u1", "dd")
      let audit = try await store.redis("XRANGE", store.keys.audit, "-", "+").array ?? []
      let fields = audit.first?.array?.last?.pairs ?? []
      #expect(
        fields.contains { $0 == ("network", "apns") } && fields.contains { $0 == ("token", "aa") })
      #expect(
        try await store.redis("EXISTS", store.keys.token(.apns, app: "shop", token: "aa")).integer
          == 0)
      let answer = try await store.installations.uninstall(
        app: "shop", token: DeviceToken(stored: "bb", network: .apns), owner: nil)
      #expect(answer == .removed)
      #expect(try await !lines(store, "u1").contains { $0.hasPrefix("liveactivity") })
    }
  }

  @Test("who knows no kinds takes such a line for another network's")
  func isUnknownToOthers() async throws {
    try await Lane.withStore { _, store in
      try await install(store, "u1", "aa", .voip)
      let text = try await store.redis("GET", store.keys.user(app: "shop", user: "u1")).string
      #expect(text?.hasPrefix("apns.voip\tproduction\t") == true)
    }
  }
}
