import Model
import Redis
import TestSupport
import Testing

@testable import Store

@Suite struct InstallationStoreTests {
  @Test func `installing again keeps the object id and bumps the generation`() async throws {
    try await Lane.withStore { _, store in
      let first = try await store.install("u1", "aa")
      let before = try #require(try await store.binding("aa"))
      let second = try await store.install("u1", "aa")
      let after = try #require(try await store.binding("aa"))
      #expect(first.status == .created)
      #expect(second.status == .updated)
      #expect(second.objectID == first.objectID)
      #expect(first.objectID.utf8.count == 32)
      #expect(after.generation > before.generation)
      #expect(after.installation.createdAtMs == before.installation.createdAtMs)
      #expect(try await store.tokens(of: "u1") == ["aa"])
    }
  }

  @Test func `the last installer wins and the former owner has nothing left`() async throws {
    try await Lane.withStore { _, store in
      var first = Installation(
        app: "shop", user: "alice", token: DeviceToken(stored: "aa", network: .apns))
      first.channels = ["news"]
      first.badge = 4
      first.custom = ["plan": "gold"]
      let created = try await store.installations.install(first)
      try await store.install("alice", "bb")
      let moved = try await store.install("bob", "aa")
      #expect(
        moved
          == InstallResult(
            status: .moved, objectID: created.objectID, previousUser: "alice"))
      #expect(try await store.tokens(of: "alice") == ["bb"])
      #expect(try await store.tokens(of: "bob") == ["aa"])
      let binding = try #require(try await store.binding("aa")).installation
      #expect(binding.user == "bob")
      #expect(binding.channels.isEmpty && binding.badge == nil && binding.custom.isEmpty)
      let audit = try await store.redis("XRANGE", store.keys.audit, "-", "+").array ?? []
      #expect(audit.count == 1)
      let fields = audit.first?.array?.last?.pairs ?? []
      #expect(fields.contains { $0 == ("cause", "overwritten") })
      #expect(fields.contains { $0 == ("user", "alice") })
    }
  }

  @Test func `every field of an installation is stored and read back`() async throws {
    try await Lane.withStore { _, store in
      var installation = Installation(
        app: "shop", user: "u:1", token: DeviceToken(stored: "a:b:c", network: .fcm),
        environment: .development, objectID: "object-7",
        device: Installation.Device(
          type: "android", appName: "Shop", appVersion: "1.2", osVersion: "14",
          sdkVersion: "3.4", timeZone: "Asia/Tokyo", language: "ja-JP"),
        channels: ["a", "b_c"], custom: ["x": "1", "y": "z"])
      installation.badge = 2
      installation.createdAtMs = 1_600_000_000_000
      installation.updatedAtMs = 1_600_000_000_001
      _ = try await store.installations.install(installation)
      let read = try await store.installations.installation(
        app: "shop", token: installation.token)
      #expect(read?.installation == installation)
      #expect(
        try await store.installations.devices(app: "shop", user: "u:1") == [try #require(read)])
    }
  }

  @Test func `strict creation of an existing token is a conflict that names its object id`()
    async throws
  {
    try await Lane.withStore { _, store in
      let first = try await store.install("u1", "aa")
      let before = try await store.binding("aa")
      let second = try await store.installations.create(
        Installation(app: "shop", user: "u2", token: DeviceToken(stored: "aa", network: .apns)))
      #expect(
        second
          == InstallResult(
            status: .conflict, objectID: first.objectID, previousUser: "u1"))
      #expect(try await store.binding("aa") == before)
      #expect(try await store.tokens(of: "u2") == [])
    }
  }

  @Test func `an installation without a user is refused`() async throws {
    try await Lane.withStore { _, store in
      let error = await failure { try await store.install("", "aa") }
      guard case .server("INVALID", let message) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(message.contains("needs a user"))
      let binding = try await store.binding("aa")
      #expect(binding == nil)
    }
  }

  @Test(arguments: [false, true])
  func `a user of too many installations gets a token all the same, and loses the oldest`(
    isStrict: Bool
  ) async throws {
    try await Lane.withStore { _, store in
      let max = Limits.installationsPerUserMax
      for index in 0..<max {
        try await store.install("u1", String(1_000 + index))
      }
      // It was the oldest, and is no more.
      try await store.install("u1", "1000")
      if !isStrict { try await store.install("u2", "ffff") }
      let installation = Installation(
        app: "shop", user: "u1", token: DeviceToken(stored: "ffff", network: .apns))
      let result =
        isStrict
        ? try await store.installations.create(installation)
        : try await store.installations.install(installation)
      #expect(result.status == (isStrict ? .created : .moved))
      #expect(result.evicted == 1)
      #expect(try await store.tokens(of: "u2") == [])
      let tokens = try await store.tokens(of: "u1")
      #expect(tokens.count == max)
      #expect(tokens.last == "ffff")
      let oldest = "1001"
      #expect(!tokens.contains(oldest))
      #expect(try await store.binding(oldest) == nil)
      let audit = try await store.redis("XREVRANGE", store.keys.audit, "+", "-", "COUNT", "1")
      let entry = Dictionary(audit.array![0].array![1].pairs, uniquingKeysWith: { $1 })
      #expect(
        entry == [
          "cause": "evicted", "app": "shop", "user": "u1", "network": "apns", "token": oldest,
          "by": "ffff",
        ])
      // One that is there already takes nobody's place.
      #expect(try await store.install("u1", "1000").evicted == 0)
      let conflict = try await store.installations.create(
        Installation(app: "shop", user: "u1", token: DeviceToken(stored: "1002", network: .apns)))
      #expect(conflict.status == .conflict)
      #expect(conflict.evicted == 0)
      #expect(try await store.tokens(of: "u1").count == max)
    }
  }

  @Test func `of a batch that gives a user more than one may have the last ones stay`() async throws
  {
    try await Lane.withStore { _, store in
      let all = (0..<150).map { index in
        Installation(
          app: "shop", user: "u1",
          token: DeviceToken(stored: String(1_000 + index), network: .apns))
      }
      var evicted = 0
      for first in stride(from: 0, to: all.count, by: 50) {
        let answer = try await store.installations.importBatch(Array(all[first..<first + 50]))
        #expect(answer.created == 50)
        evicted += answer.evicted
      }
      #expect(evicted == 50)
      #expect(try await store.tokens(of: "u1") == (50..<150).map { String(1_000 + $0) })
      #expect(try await store.binding("1049") == nil)
    }
  }

  @Test func `an uninstall for an owner spares the next owner's binding`() async throws {
    try await Lane.withStore { _, store in
      let token = DeviceToken(stored: "aa", network: .apns)
      try await store.install("alice", "aa")
      try await store.install("bob", "aa")
      let store = store.installations
      #expect(try await store.uninstall(app: "shop", token: token, owner: "alice") == .otherOwner)
      #expect(try await store.uninstall(app: "other", token: token) == .absent)
      #expect(try await store.uninstall(app: "shop", token: token, owner: "bob") == .removed)
      #expect(try await store.uninstall(app: "shop", token: token, owner: "bob") == .absent)
      #expect(try await store.devices(app: "shop", user: "bob").isEmpty)
      #expect(try await store.installation(app: "shop", token: token) == nil)
    }
  }

  @Test func `a token removed and installed again never repeats a generation`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let first = try #require(try await store.binding("aa")).generation
      _ = try await store.installations.uninstall(
        app: "shop", token: DeviceToken(stored: "aa", network: .apns))
      try await store.install("u1", "aa")
      #expect(try #require(try await store.binding("aa")).generation > first)
    }
  }

  @Test func `a batch counts what it did, and one with a line that nobody owns changes nothing`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "01")
      try await store.install("u2", "02")
      let batch = [("u1", "01"), ("u1", "02"), ("u3", "04")].map {
        Installation(app: "shop", user: $0.0, token: DeviceToken(stored: $0.1, network: .apns))
      }
      let orphan = Installation(
        app: "shop", user: "", token: DeviceToken(stored: "03", network: .apns))
      let refusal = await failure {
        try await store.installations.importBatch(batch + [orphan])
      }
      #expect(
        refusal == .server(code: "INVALID", message: "user: an installation needs a user"))
      #expect(try await store.tokens(of: "u1") == ["01"])
      let answer = try await store.installations.importBatch(batch)
      #expect(answer == ImportAnswer(created: 1, updated: 1, moved: 1))
      #expect(try await store.tokens(of: "u1") == ["01", "02"])
    }
  }

  @Test func `a batch of an import that comes late changes nothing`() async throws {
    try await Lane.withStore { _, store in
      let batches = ["u1", "u2"].map { user in
        [Installation(app: "shop", user: user, token: DeviceToken(stored: "01", network: .apns))]
      }
      var first = ImportTurn()
      first.advance()
      var second = first
      second.advance()
      _ = try await store.installations.importBatch(batches[0], turn: first)
      _ = try await store.installations.importBatch(batches[1], turn: second)
      for late in [first, second] {
        guard
          case .server("OVERTAKEN", _) = await failure({
            try await store.installations.importBatch(batches[0], turn: late)
          })
        else {
          Issue.record("a delayed batch was taken")
          return
        }
      }
      #expect(try await store.tokens(of: "u2") == ["01"])
      // Another import is another matter.
      var other = ImportTurn()
      other.advance()
      _ = try await store.installations.importBatch(batches[0], turn: other)
      #expect(try await store.tokens(of: "u1") == ["01"])
    }
  }

  @Test func `an imported update time never makes a binding older`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let before = try #require(try await store.binding("aa")).installation.updatedAtMs
      try await store.install("u1", "aa", updatedAtMs: 1_000)
      #expect(try #require(try await store.binding("aa")).installation.updatedAtMs! >= before!)
    }
  }

  @Test func `many users are resolved at once, those without installations as none`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await store.install("u1", "bb")
      try await store.install("u3", "cc")
      let users = Array("u1\nu2\nu3\n".utf8)
      let found: [[String]] = try await withUnsafeContinuation { continuation in
        users.withUnsafeBytes { bytes in
          store.installations.resolve(app: "shop", users: Array(SegmentLines(bytes))[...]) {
            result in
            continuation.resume(
              returning: result.map { resolved in
                (0..<resolved.count).map { index in
                  resolved[index].map { String(decoding: $0.token, as: UTF8.self) }
                }
              })
          }
        }
      }.get()
      #expect(found == [["aa", "bb"], [], ["cc"]])
    }
  }

  @Test(arguments: ["aa", "bb"])
  func `a token is resolved to its owner, an unknown one to nobody`(text: String) async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let token = Array(text.utf8)
      let binding: TokenBinding? = try await withUnsafeContinuation { continuation in
        token.withUnsafeBytes { bytes in
          store.installations.resolve(app: "shop", network: .apns, token: bytes) {
            continuation.resume(returning: $0)
          }
        }
      }.get()
      #expect(binding?.user == (text == "aa" ? "u1" : nil))
    }
  }
}
