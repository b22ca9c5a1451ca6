import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// What is read of receivers when a job is not the same for all.
@Suite struct ReceiverStoreTests {
  private func fields(
    _ store: ShardStore, _ names: [String], _ tokens: [(Network, String)]
  ) async throws -> [[String?]] {
    var found = [[String?]](repeating: ["?"], count: tokens.count)
    let texts = tokens.map { Array($0.1.utf8) }
    let lent = texts.map { text in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
      copy.copyBytes(from: text)
      return UnsafeRawBufferPointer(copy)
    }
    defer { for bytes in lent { bytes.deallocate() } }
    let asked = zip(tokens, lent).map { (network: $0.0, token: $1) }
    try await store.installations.fields(names, app: "shop", of: asked[...]) { index, value in
      found[index] = names.indices.map { position in
        value(position).map { String(decoding: $0, as: UTF8.self) }
      }
    }
    return found
  }

  @Test("fields come in the order of their installations and names, nil for what one lacks")
  func readsFields() async throws {
    try await Lane.withStore { _, store in
      for (token, language) in [("aa", "ja"), ("bb", nil), ("cc", "zh-Hant-TW")] {
        var installation = Installation(
          app: "shop", user: "u1", token: DeviceToken(stored: token, network: .apns))
        installation.device.language = language
        if token != "cc" { installation.channels = ["news", token] }
        installation.custom = ["plan": "", "other": "x"]
        _ = try await store.installations.install(installation)
      }
      _ = try await store.redis("SET", store.keys.token(.apns, app: "shop", token: "dd"), "x")
      let asked = [
        (Network.apns, "cc"), (.apns, "bb"), (.fcm, "aa"), (.apns, "aa"), (.apns, "dd"),
      ]
      #expect(
        try await fields(store, ["language", "custom.plan", "channels"], asked) == [
          ["zh-Hant-TW", "", nil], [nil, "", "news\nbb"], [nil, nil, nil],
          ["ja", "", "news\naa"], [nil, nil, nil],
        ])
      #expect(
        try await fields(store, ["language"], asked).flatMap { $0 } == [
          "zh-Hant-TW", nil, nil, "ja", nil,
        ])
    }
  }

  private func values(_ store: ShardStore, _ users: [String]) async throws -> [String?]? {
    var found = [String?](repeating: "?", count: users.count)
    let lent = users.map { user in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: user.utf8.count, alignment: 1)
      copy.copyBytes(from: user.utf8)
      return UnsafeRawBufferPointer(copy)
    }
    defer { for bytes in lent { bytes.deallocate() } }
    let result: Result<Bool, RedisError> = await withUnsafeContinuation { continuation in
      store.variables.resolve("names", of: lent) { index, values in
        found[index] =
          switch values {
          case .nothing: nil
          case .json(let json): String(decoding: json, as: UTF8.self)
          case .tooLong: "too long"
          }
      } _: { result in
        continuation.resume(returning: result)
      }
    }
    return try result.get() ? found : nil
  }

  @Test("a producer's HASH is read for users in their order, and another type is told apart")
  func readsVariables() async throws {
    try await Lane.withStore { _, store in
      #expect(try await values(store, ["u1"]) == [nil])
      _ = try await store.redis("HSET", "names", "u1", #"{"name":"Ann"}"#, "u3", "")
      #expect(
        try await values(store, ["u3", "u2", "u1"]) == ["", nil, #"{"name":"Ann"}"#])
      for (user, bytes) in [("u4", Limits.userVariablesBytesMax), ("u5", 20_000_000)] {
        _ = try await store.redis("HSET", "names", user, String(repeating: "x", count: bytes))
      }
      _ = try await store.redis("HSET", "names", "u6", String(repeating: "x", count: 16_385))
      let found = try #require(try await values(store, ["u4", "u5", "u6", "u1"]))
      #expect(found[0]?.utf8.count == Limits.userVariablesBytesMax)
      #expect(found[1...] == ["too long", "too long", #"{"name":"Ann"}"#])
      _ = try await store.redis("DEL", "names")
      _ = try await store.redis("RPUSH", "names", "u1")
      #expect(try await values(store, ["u1"]) == nil)
    }
  }
}
