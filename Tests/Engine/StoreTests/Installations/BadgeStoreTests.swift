import Model
import Redis
import Testing

@testable import Store

/// Badges are raised once for a job, whatever happens to its chunks.
@Suite struct BadgeStoreTests {
  /// What the store gives for APNs tokens and their users; nil for none.
  private func give(
    _ store: ShardStore, _ claim: ChunkClaim, _ receivers: [(token: String, user: String)],
    consumer: String = "worker", request: BadgeStore.Receiver.Request = .give
  ) async throws -> [Int32?]? {
    var found = [Int32?](repeating: nil, count: receivers.count)
    var lent: [UnsafeRawBufferPointer] = []
    func lend(_ text: String) -> UnsafeRawBufferPointer {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
      copy.copyBytes(from: text.utf8)
      lent.append(UnsafeRawBufferPointer(copy))
      return UnsafeRawBufferPointer(copy)
    }
    let asked = receivers.map {
      BadgeStore.Receiver(
        network: .apns, token: lend($0.token), user: lend($0.user), request: request)
    }
    defer { for bytes in lent { bytes.deallocate() } }
    let isOurs = try await store.badges.give(
      claim, consumer: consumer, to: asked[...]
    ) { found[$0] = $1 }
    return isOurs ? found : nil
  }

  private func badge(_ store: ShardStore, _ token: String) async throws -> Int? {
    try await store.binding(token)?.installation.badge
  }

  @Test("a chunk gives an installation one badge, however often it asks, and the next job another")
  func givesOnce() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      try await store.install("b", "bb")
      _ = try await store.redis(
        "HSET", store.keys.token(.apns, app: "shop", token: "bb"), "badge", "6")
      try await store.admit("j1", users: [["a", "b"]])
      let claim = try await store.claimOne()
      for _ in 0..<3 {
        #expect(try await give(store, claim, [("aa", "a"), ("bb", "b")]) == [1, 7])
      }
      _ = try await store.chunks.settle(claim, .final(accepted: 2, users: 2), consumer: "worker")
      #expect(try await badge(store, "aa") == 1)
      #expect(try await badge(store, "bb") == 7)
      #expect(try await store.allKeys().filter { $0.contains(":badges:") } == [])
      try await store.admit("j2", users: [["a"]])
      #expect(try await give(store, try await store.claimOne(), [("aa", "a")]) == [2])
    }
  }

  @Test("a chunk that is another worker's, or has ended, gives nothing")
  func needsOwner() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      #expect(try await give(store, claim, [("aa", "a")], consumer: "other") == nil)
      #expect(try await give(store, claim, [("aa", "a")]) == [1])
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(try await give(store, claim, [("aa", "a")]) == nil)
      #expect(try await badge(store, "aa") == 1)
    }
  }

  @Test("a token that has changed hands gets none, and its new owner a badge of its own")
  func movedToken() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      try await store.admit("j1", users: [["a", "b"]])
      try await store.install("a", "dd")
      let claim = try await store.claimOne()
      #expect(try await give(store, claim, [("aa", "a")]) == [1])
      try await store.install("b", "aa")
      try await store.install("b", "dd")
      #expect(try await give(store, claim, [("dd", "a")]) == [nil])
      #expect(try await badge(store, "aa") == nil)
      #expect(try await badge(store, "dd") == nil)
      _ = try await store.redis(
        "HSET", store.keys.token(.apns, app: "shop", token: "aa"), "badge", "8")
      #expect(try await give(store, claim, [("aa", "b"), ("cc", "c")]) == [9, nil])
    }
  }

  @Test("nothing of a chunk's badges is left when its job is cancelled, or its segment is gone")
  func leavesNothing() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      func kept() async throws -> Int {
        try await store.allKeys().count { $0.contains("badges") }
      }
      try await store.admit("j1", users: [["a"]])
      let cancelled = try await store.claimOne()
      #expect(try await give(store, cancelled, [("aa", "a")]) == [1])
      #expect(try await kept() == 1)
      _ = try await store.jobs.cancel(app: "shop", id: "j1")
      try await store.chunks.handBack([cancelled], consumer: "worker", delayMs: 0)
      #expect(try await kept() == 0)

      try await store.admit("j2", users: [["a"]])
      let lost = try await store.claimOne()
      #expect(try await give(store, lost, [("aa", "a")]) == [2])
      _ = try await store.redis("DEL", store.keys.segment("1", source: lost.source))
      try await store.chunks.handBack([lost], consumer: "worker", delayMs: 0)
      #expect(try await store.chunks.claim(consumer: "worker", max: 1) == [])
      #expect(try await store.deadLetters.list(max: 1).first?.reason == "segment_missing")
      #expect(try await kept() == 0)
    }
  }

  @Test("a badge is set on all of a user's installations, or on one of them, and on nobody else's")
  func sets() async throws {
    try await Lane.withStore { _, store in
      for (user, token) in [("a", "aa"), ("a", "ab"), ("b", "bb")] {
        try await store.install(user, token)
      }
      #expect(try await store.badges.set(4, app: "shop", user: "a") == 2)
      let one = DeviceToken(stored: "ab", network: .apns)
      #expect(try await store.badges.set(0, app: "shop", user: "a", token: one) == 1)
      #expect(try await store.badges.set(9, app: "shop", user: "b", token: one) == 0)
      #expect(try await store.badges.set(9, app: "shop", user: "c") == 0)
      #expect(try await badge(store, "aa") == 4)
      #expect(try await badge(store, "ab") == 0)
      #expect(try await badge(store, "bb") == nil)
      // A record that is gone is not made anew.
      let record = store.keys.token(.apns, app: "shop", token: "aa")
      _ = try await store.redis("DEL", record)
      #expect(try await store.badges.set(7, app: "shop", user: "a") == 1)
      #expect(try await store.redis("EXISTS", record).integer == 0)
    }
  }

  @Test("a dry run says what the badge would be, and changes nothing")
  func dryRun() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      for _ in 0..<2 {
        #expect(try await give(store, claim, [("aa", "a")], request: .look) == [1])
      }
      #expect(try await give(store, claim, [("aa", "a")], request: .recall) == [nil])
      #expect(try await badge(store, "aa") == nil)
      #expect(try await give(store, claim, [("aa", "a")]) == [1])
      #expect(try await give(store, claim, [("aa", "a")], request: .recall) == [1])
    }
  }

  @Test(
    "a dead letter that is retried gives the badges that were given before, and a dropped one leaves nothing"
  )
  func deadLetter() async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      try await store.install("b", "bb")
      try await store.admit("j1", users: [["a"], ["b"]])
      for (token, user) in [("aa", "a"), ("bb", "b")] {
        let claim = try await store.claimOne()
        #expect(try await give(store, claim, [(token, user)]) == [1])
        try await store.chunks.bury(
          claim, reason: "content_missing", message: "Gone", consumer: "worker")
      }
      let letters = try await store.deadLetters.list(max: 5)
      #expect(try await store.deadLetters.retry(letters[0].entry) == .retried(entry: nil))
      #expect(try await store.deadLetters.drop(letters[1].entry))
      let again = try await store.claimOne()
      #expect(again.recipientList == ["a"])
      #expect(try await give(store, again, [("aa", "a")]) == [1])
      _ = try await store.chunks.settle(again, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(try await store.allKeys().filter { $0.contains("badges") } == [])
    }
  }

  @Test(
    "what is no badge begins anew, and the largest one stays",
    arguments: [
      ("x", 1), ("-5", 1), ("nan", 1), ("1e300", Limits.badgeMax), ("2147483647", Limits.badgeMax),
      ("2.5", 3), ("", 1),
    ])
  func strangeValue(stored: String, expected: Int) async throws {
    try await Lane.withStore { _, store in
      try await store.install("a", "aa")
      let key = store.keys.token(.apns, app: "shop", token: "aa")
      _ = try await store.redis("HSET", key, "badge", stored)
      try await store.admit("j1", users: [["a"]])
      #expect(try await give(store, try await store.claimOne(), [("aa", "a")]) == [Int32(expected)])
    }
  }
}
