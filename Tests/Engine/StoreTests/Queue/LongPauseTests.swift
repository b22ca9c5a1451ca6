import Model
import Redis
import Testing

@testable import Store

/// Work waits for longer than anything of it would live in Redis by itself.
@Suite struct LongPauseTests {
  private static let users = (0..<2_000).map { "user-\($0)" }
  /// Eight segments, of which two are started.
  private static let segments = stride(from: 0, to: 2_000, by: 250).map {
    Array(users[$0..<$0 + 250])
  }

  @Test
  func `a paused job resumes whole after a month: started, half done, set aside and not begun`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: Self.segments, window: 2)
      // One chunk is half done and has a push to try again later, one is a dead letter that was retried.
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.done = DoneBitmap()
      for line in 0..<100 { settlement.done.insert(line) }
      var counts = OutcomeCounts()
      counts.accepted = 99
      settlement.counts = [.apns: counts]
      for _ in 0..<100 { settlement.resolveUser(installations: 1) }
      settlement.residuals = [
        Settlement.Residual(delayMs: 60_000, lines: Array("apns\tproduction\taa\ta\t1\t1\n".utf8))
      ]
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      _ = try await store.chunks.handBack([claim], consumer: "worker")
      let other = try await store.claimOne("other")
      _ = try await store.chunks.bury(
        other, reason: "crashed_workers", message: "", consumer: "other")
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      #expect(try await store.deadLetters.retry(letter.entry) == .retried(entry: nil))
      #expect(try await store.chunks.claim(consumer: "worker", max: 9) == [])
      try await store.makeDue()
      while try await store.chunks.promote(max: 10).taken > 0 {}
      try await store.letTimePass()
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      try await store.expectWhole("j1", 2_000, alreadyAccepted: 99)
    }
  }

  @Test(arguments: UsersKeyTests.Kind.allCases)
  func `a job of a key of users is read on after a month`(kind: UsersKeyTests.Kind) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", kind, Self.users)
      try await store.admit("j1", usersKey: "crowd", window: 2)
      let sent = try await store.work("j1", until: 600)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      #expect(try await store.chunks.claim(consumer: "worker", max: 9) == [])
      try await store.letTimePass()
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      expectOnce(sent + (try await store.work("j1")), Self.users)
      try await store.expectEnd("j1", accepted: Self.users.count)
    }
  }

  @Test func `a job of an app that is off for a month is sent when it is on again`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: Self.segments, window: 2)
      _ = try await store.switches.switchOff(.app("shop"), reason: "")
      #expect(try await store.chunks.claim(consumer: "worker", max: 9) == [])
      try await store.letTimePass()
      _ = try await store.switches.switchOn(.app("shop"))
      try await store.makeDue()
      try await store.expectWhole("j1", 2_000)
    }
  }

  @Test func `a job that begins in a year has its recipients then`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: Self.segments, window: 2, startAtMs: 4_000_000_000_000)
      try await store.letTimePass()
      try await store.makeDue()
      try await store.expectWhole("j1", 2_000)
    }
  }

  @Test(arguments: [JobState.paused, .cancelled])
  func `what an operator said of a job that waits for a month still holds`(state: JobState)
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      let reserve = {
        try await store.jobs.reserve(
          entry, app: "shop", id: "j1", digest: "d", consumer: "worker")
      }
      #expect(try await reserve() == .new)
      _ =
        state == .paused
        ? try await store.jobs.pause(app: "shop", id: "j1")
        : try await store.jobs.cancel(app: "shop", id: "j1")
      _ = try await reserve()
      try await store.letTimePass()
      let admission = Admission(
        app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u1\n".utf8)]))
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      #expect(try await store.record("j1").state == state)
      #expect(try await store.chunks.claim(consumer: "worker", max: 1) == [])
    }
  }

  @Test func `a job that waited for two months was enqueued then, not now`() async throws {
    try await Lane.withStore { _, store in
      let now = try await store.redis("TIME").array?.first?.string.flatMap { Int64($0) } ?? 0
      let enqueuedAtMs = (now - 60 * 86_400) * 1_000
      _ = try await store.redis(
        "XADD", store.keys.jobs(.normal), "\(enqueuedAtMs)-0", "job", "{}")
      let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
      let admission = Admission(
        app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u1\n".utf8)]))
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      #expect(try await store.record("j1").createdAtMs == enqueuedAtMs)
    }
  }

  @Test func `segments of a job that is never admitted go by themselves`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      #expect(
        try await store.jobs.upload(
          [Array("u1\n".utf8)], first: 1, of: entry, consumer: "worker"))
      try await store.letTimePass()
      #expect(try await store.segmentCount() == 0)
    }
  }
}

extension ShardStore {
  /// Takes away whatever Redis would drop by itself sooner or later.
  func letTimePass() async throws {
    for key in try await allKeys() where try await redis("PTTL", key).integer ?? -1 >= 0 {
      _ = try await redis("UNLINK", key)
    }
  }

  /// Makes all delayed work due.
  func makeDue() async throws {
    let key = keys.job(app: "shop", id: "j1")
    if try await redis("HGET", key, "start_at").string != "0" {
      _ = try await redis("HSET", key, "start_at", "1")
    }
    for member in try await redis("ZRANGE", keys.delayed, "0", "-1").array ?? [] {
      _ = try await redis("ZADD", keys.delayed, "0", member.string ?? "")
    }
  }

  /// Works the job off: everybody who is left is sent to, and nobody counts as failed.
  func expectWhole(_ id: String, _ total: Int, alreadyAccepted: Int = 0) async throws {
    var sent = alreadyAccepted
    while true {
      let moved = try await chunks.promote(max: 100).taken
      guard let claim = try await chunks.claim(consumer: "worker", max: 1).first else {
        if moved == 0 { break }
        continue
      }
      let open = claim.recipientList.count - claim.done.count
      sent += open
      _ = try await chunks.settle(
        claim, .final(accepted: open, users: claim.lines == .users ? open : 0), consumer: "worker")
    }
    let record = try await record(id)
    #expect(sent == total)
    #expect(record.state == .done && record.isBalanced && record.counts.failed == 0)
    #expect(record.counts.accepted == total)
    #expect(try await discrepancy(id) == nil)
  }
}
