import Redis
import Testing

@testable import Store

/// The keys of the HTTP API, as Redis has them.
@Suite struct AccessKeyStoreTests {
  private static func key(
    _ id: String, _ role: KeyRole = .server, app: String? = "shop", secret: String = "secret"
  ) -> AccessKey {
    AccessKey(
      id: id, role: role, app: app, name: "a backend", secret: secret,
      createdAtMs: 1_790_000_000_000, createdBy: "ann@push-1")
  }

  @Test("a key is found as it was added, fits its secret alone, and is gone when it is removed")
  func keeps() async throws {
    try await Lane.withStore { _, store in
      let key = Self.key("k1")
      #expect(try await store.fleet.accessKeys.find("k1") == nil)
      #expect(try await store.fleet.accessKeys.add(key) == .added)
      let found = try #require(try await store.fleet.accessKeys.find("k1"))
      #expect(found == key)
      #expect(found.fits("secret") && !found.fits("secreu") && !found.fits(""))
      #expect(try await store.fleet.accessKeys.add(Self.key("k1", secret: "other")) == .taken)
      #expect(try await store.fleet.accessKeys.find("k1")?.fits("secret") == true)
      _ = try await store.fleet.accessKeys.add(Self.key("k2", .admin, app: nil))
      #expect(Set(try await store.fleet.accessKeys.list().map(\.id)) == ["k1", "k2"])
      #expect(try await store.fleet.accessKeys.remove("k1"))
      #expect(try await store.fleet.accessKeys.remove("k1") == false)
      #expect(try await store.fleet.accessKeys.list().map(\.id) == ["k2"])
    }
  }

  @Test("Redis keeps a digest of the secret, and not the secret")
  func digest() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.fleet.accessKeys.add(Self.key("k1", secret: "hidden-words"))
      let value = try #require(try await store.redis("HGET", store.keys.accessKeys, "k1").string)
      #expect(!value.contains("hidden-words"))
      // printf hidden-words | sha256sum
      let digest = ContentDigest.sha256("hidden-words")
      #expect(digest.utf8.count == 64 && value.contains(digest))
      #expect(
        ContentDigest.sha256("")
          == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
  }

  @Test("a value that is no key's, or that would widen a key to all apps, is no key")
  func strangers() async throws {
    try await Lane.withStore { _, store in
      let digest = String(repeating: "0", count: 64)
      for (id, value) in [
        ("a", "text"), ("b", #"{"role":"device","sha256":"\#(digest)"}"#),
        ("c", #"{"role":"server","sha256":"\#(digest)"}"#),
        ("d", #"{"role":"admin","app":"shop","sha256":"\#(digest)"}"#),
        ("e", #"{"role":"admin","sha256":"00"}"#), ("f", #"{"sha256":"\#(digest)"}"#),
        ("g", #"{"role":"admin","sha256":"\#(digest)"}"#),
      ] {
        _ = try await store.redis("HSET", store.keys.accessKeys, id, value)
      }
      #expect(try await store.fleet.accessKeys.list().map(\.id) == ["g"])
      #expect(try await store.fleet.accessKeys.find("c") == nil)
    }
  }

  @Test("there are no more keys than there may be")
  func bounded() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<StoreLimits.accessKeysMax {
        _ = try await store.redis("HSET", store.keys.accessKeys, "x\(number)", "none")
      }
      #expect(try await store.fleet.accessKeys.add(Self.key("k1")) == .full)
      _ = try await store.redis("HDEL", store.keys.accessKeys, "x0")
      #expect(try await store.fleet.accessKeys.add(Self.key("k1")) == .added)
    }
  }

  @Test("a browser's session is known by a digest, lives for its time, and ends when it is told to")
  func sessions() async throws {
    try await Lane.withStore { _, store in
      let sessions = store.fleet.browserSessions
      #expect(try await sessions.keyID(of: "name") == nil)
      try await sessions.begin("name", keyID: "k1", createdAtMs: 1, seconds: 600)
      #expect(try await sessions.keyID(of: "name") == "k1")
      let place = store.keys.session(ContentDigest.sha256("name"))
      let seconds = try #require(try await store.redis("TTL", place).integer)
      #expect((1...600).contains(seconds))
      try await sessions.end("name")
      #expect(try await sessions.keyID(of: "name") == nil)
      try await sessions.end("name")
      _ = try await store.redis("SET", place, "no JSON")
      #expect(try await sessions.keyID(of: "name") == nil)
    }
  }
}
