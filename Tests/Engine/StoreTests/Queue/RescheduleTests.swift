import Model
import Redis
import Testing

@testable import Store

/// A job that waits for its start, and is told another one.
@Suite struct RescheduleTests {
  private static let hourMs: Int64 = 3_600_000

  private static func nowMs(_ store: ShardStore) async throws -> Int64 {
    let time = try await store.redis("TIME").array ?? []
    return Int64(try #require(time.first?.integer)) * 1_000
  }

  /// The times at which its chunks are looked at.
  private static func dueMs(_ store: ShardStore) async throws -> [Int64] {
    let scored = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1", "WITHSCORES")
    return try scored.pairs.map { try #require(Int64($0.1)) }
  }

  private static func move(
    _ id: String, to atMs: Int64?, _ store: ShardStore
  ) async throws -> RescheduleAnswer? {
    try await store.jobs.reschedule(app: "shop", id: id, atMs: atMs)
  }

  /// Admits a job to one user, with this content.
  private static func admit(
    _ id: String, _ content: String, startAtMs: Int64, livesSeconds: Int? = nil,
    _ store: ShardStore
  ) async throws {
    let entry = try await store.takeNew()
    var admission = Admission(
      app: "shop", id: id, digest: "d", content: Array(content.utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 1, segments: 1, texts: [Array("u\n".utf8)]),
      timing: Admission.Timing(startAtMs: startAtMs))
    admission.timing.livesSeconds = livesSeconds
    #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
  }

  @Test("it waits for the new start, which may be later and earlier, and begins there")
  func moves() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      try await store.admit(
        "j", users: [["a"], ["b"], ["c"]], window: 2, startAtMs: nowMs + Self.hourMs)
      for hours in [48, 2] as [Int64] {
        let atMs = nowMs + hours * Self.hourMs
        #expect(try await Self.move("j", to: atMs, store) == .moved)
        #expect(try await store.record("j").startAtMs == atMs)
        #expect(try await store.record("j").state == .scheduled)
        #expect(try await Self.dueMs(store) == [atMs, atMs])
      }
      #expect(try await store.chunks.promote(max: 10).taken == 0)
      #expect(try await Self.move("j", to: nil, store) == .moved)
      #expect(try await store.chunks.promote(max: 10).taken == 2)
      let record = try await store.record("j")
      #expect(record.state == .running && record.startedAtMs != nil)
      #expect(try await store.claimOne().recipientList == ["a"])
      #expect(try await Self.move("j", to: nowMs + Self.hourMs, store) == .started)
    }
  }

  @Test("one whose chunks are in line already waits again")
  func leavesLine() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      try await store.admit("j", users: [["a"], ["b"]], startAtMs: nowMs + Self.hourMs)
      let line = store.keys.prefix + ":ready:normal"
      for member in try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? [] {
        _ = try await store.redis("ZADD", line + ":shop", "1", member.string ?? "")
        _ = try await store.redis("ZADD", line, "1", "shop")
      }
      let atMs = nowMs + 2 * Self.hourMs
      #expect(try await Self.move("j", to: atMs, store) == .moved)
      #expect(try await store.chunks.promote(max: 10).taken == 0)
      #expect(try await store.record("j").state == .scheduled)
      #expect(try await Self.dueMs(store) == [atMs, atMs])
      #expect(try await store.redis("EXISTS", line + ":shop").integer == 0)
    }
  }

  @Test("a job whose users are in a key reads them at the new start")
  func readsKeyLater() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      _ = try await store.redis("SADD", "crowd", "a", "b")
      let entry = try await store.takeNew()
      let admission = Admission(
        app: "shop", id: "j", digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 0, segments: 0, usersKey: "crowd"),
        timing: Admission.Timing(startAtMs: nowMs + Self.hourMs))
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      let atMs = nowMs + 2 * Self.hourMs
      #expect(try await Self.move("j", to: atMs, store) == .moved)
      #expect(try await Self.dueMs(store) == [atMs])
      _ = try await store.redis("SADD", "crowd", "c")
      #expect(try await Self.move("j", to: nil, store) == .moved)
      _ = try await store.chunks.promote(max: 10)
      #expect(try await store.claimOne().recipientList.sorted() == ["a", "b", "c"])
    }
  }

  @Test("a paused job begins when it is resumed, and not before its new start")
  func movesPaused() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      try await store.admit("j", users: [["a"]], startAtMs: nowMs + Self.hourMs)
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      #expect(try await Self.move("j", to: nil, store) == .moved)
      #expect(try await store.record("j").state == .paused)
      // Its time has come: what is due is parked.
      _ = try await store.chunks.promote(max: 10)
      #expect(try await Self.dueMs(store).isEmpty)
      let atMs = nowMs + 2 * Self.hourMs
      #expect(try await Self.move("j", to: atMs, store) == .moved)
      #expect(try await store.jobs.resume(app: "shop", id: "j") == .scheduled)
      #expect(try await Self.dueMs(store) == [atMs])
      #expect(try await store.record("j").startedAtMs == nil)
      // Resumed after its start it has begun.
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      #expect(try await Self.move("j", to: nil, store) == .moved)
      #expect(try await store.jobs.resume(app: "shop", id: "j") == .running)
      #expect(try await store.record("j").startedAtMs != nil)
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      #expect(try await Self.move("j", to: atMs, store) == .started)
    }
  }

  @Test("what counts from the start moves with it, and an instant by which it expires does not")
  func expires() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      let startMs = nowMs + Self.hourMs
      let content = #"{"expires_at":\#(startMs + 60_000)}"#
      try await Self.admit("lives", content, startAtMs: startMs, livesSeconds: 60, store)
      #expect(try await store.record("lives").expiresAtMs == startMs + 60_000)
      #expect(try await Self.move("lives", to: startMs + Self.hourMs, store) == .moved)
      #expect(try await store.record("lives").expiresAtMs == startMs + Self.hourMs + 60_000)

      try await Self.admit("ends", content, startAtMs: startMs, store)
      #expect(try await store.record("ends").expiresAtMs == nil)
      #expect(try await Self.move("ends", to: startMs + 60_000, store) == .expired)
      #expect(try await store.record("ends").startAtMs == startMs)
      #expect(try await Self.move("ends", to: startMs + 59_999, store) == .moved)
      // Of one that has ended it is told as well.
      #expect(try await store.jobs.cancel(app: "shop", id: "lives") == .cancelled)
      #expect(try await store.record("lives").expiresAtMs == startMs + Self.hourMs + 60_000)
    }
  }

  @Test("an app that is off holds one that counts from its start, whatever an older version noted")
  func isHeld() async throws {
    try await Lane.withStore { _, store in
      let startMs = try await Self.nowMs(store) + Self.hourMs
      _ = try await store.switches.switchOff(.app("shop"), reason: "test")
      for (id, isNoted) in [("new", false), ("noted", true)] {
        let content = #"{"expires_at":\#(startMs + 60_000)}"#
        try await Self.admit(id, content, startAtMs: startMs, livesSeconds: 60, store)
        if isNoted {
          let key = store.keys.job(app: "shop", id: id)
          _ = try await store.redis("HSET", key, "expires_at", "5")
        }
        #expect(try await Self.move(id, to: nil, store) == .moved)
      }
      _ = try await store.chunks.promote(max: 10)
      let nowMs = try await Self.nowMs(store)
      #expect(try await Self.dueMs(store).allSatisfy { $0 > nowMs })
      for id in ["new", "noted"] { #expect(try await store.record(id).state == .scheduled) }
    }
  }

  @Test("one that has started, ended, waits for a worker or goes by local time is left as it is")
  func refuses() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      #expect(try await Self.move("none", to: nil, store) == nil)
      try await store.admit("runs", users: [["a"]])
      #expect(try await Self.move("runs", to: nowMs + Self.hourMs, store) == .started)
      #expect(try await store.record("runs").state == .running)
      try await store.admit("over", users: [["a"]], startAtMs: nowMs + Self.hourMs)
      _ = try await store.jobs.cancel(app: "shop", id: "over")
      #expect(try await Self.move("over", to: nil, store) == .ended)
      let entry = try await store.takeNew()
      var local = Admission(
        app: "shop", id: "local", digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u\n".utf8)]),
        timing: Admission.Timing(startAtMs: nowMs + Self.hourMs))
      local.timing.roundsAtMs = [nowMs + Self.hourMs, nowMs + 2 * Self.hourMs]
      #expect(try await store.jobs.admit(entry, local, consumer: "worker") == .admitted)
      #expect(try await Self.move("local", to: nil, store) == .local)
      let waiting = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      let named = try await store.jobs.waiting.takeName(
        "shop", "waits", digest: "d", priority: .normal, entry: waiting)
      #expect(named == .new)
      #expect(try await Self.move("waits", to: nil, store) == .waiting)
      #expect(try await store.record("waits").state == .queued)
    }
  }

  @Test("it goes no further ahead than a job may start")
  func bounds() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      try await store.admit("j", users: [["a"]], startAtMs: nowMs + Self.hourMs)
      let farMs = nowMs + Limits.deliverAheadMsMax
      #expect(try await Self.move("j", to: farMs + 60_000, store) == .far)
      #expect(try await store.record("j").startAtMs == nowMs + Self.hourMs)
      #expect(try await Self.move("j", to: farMs - 60_000, store) == .moved)
      // A past instant is now.
      #expect(try await Self.move("j", to: 1_000_000_000_000, store) == .moved)
      #expect(try #require(try await store.record("j").startAtMs) >= nowMs)
    }
  }

  @Test("a delayed set of the wrong type is told, and the job stays as it is")
  func wrongType() async throws {
    try await Lane.withStore { _, store in
      let nowMs = try await Self.nowMs(store)
      try await store.admit("j", users: [["a"]], startAtMs: nowMs + Self.hourMs)
      let kept = store.keys.prefix + ":kept"
      for (key, isThere) in [
        (store.keys.delayed, true), (store.keys.prefix + ":ready:normal:shop", false),
      ] {
        if isThere { _ = try await store.redis("RENAME", key, kept) }
        _ = try await store.redis("SET", key, "x")
        await #expect(throws: RedisError.self) { try await Self.move("j", to: nil, store) }
        #expect(try await store.record("j").startAtMs == nowMs + Self.hourMs)
        _ = try await store.redis("DEL", key)
        if isThere { _ = try await store.redis("RENAME", kept, key) }
      }
      #expect(try await Self.move("j", to: nil, store) == .moved)
      #expect(try await store.chunks.promote(max: 10).taken == 1)
    }
  }
}
