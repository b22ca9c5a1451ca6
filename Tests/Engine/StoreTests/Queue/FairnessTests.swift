import Model
import Redis
import Testing

@testable import Store

/// Apps that share the queue: how far one with much to do holds up the others.
@Suite struct FairnessTests {
  private static func text(_ app: String, _ number: Int) -> String {
    #"{"id": "\#(number)", "app" : "\#(app)", "audience": {"users": ["u"]}}"#
  }

  @Test
  func `one job of an app is taken at once behind 50,000 of another, high priority before it`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(50_000, app: "a")
      _ = try await store.jobs.enqueue(Array(Self.text("b", 0).utf8), priority: .normal)
      _ = try await store.jobs.enqueue(Array(Self.text("c", 0).utf8), priority: .high)
      var worker = Intake(store: store)
      var calls = 0
      while !worker.admitted.contains("b:0") {
        try await worker.take()
        calls += 1
        try #require(calls < 5_000)
      }
      #expect(worker.admitted.first == "c:0")
      let status = try await store.backlog.status()
      #expect(status.jobs[.normal]! > 49_000, "those of the other app wait")
      #expect(status.chunks[.normal]! <= 64 + 32)
    }
  }

  @Test func `an app is told from what others call so within a job's content`() async throws {
    try await Lane.withStore { _, store in
      let content = #""notification": {"data": {"app": "x", "a\"pp": "[{"}}"#
      for number in 0..<300 {
        let job = #"{"id": "\#(number)", \#(content), "app": "a", "audience": {"users": ["u"]}}"#
        _ = try await store.jobs.enqueue(Array(job.utf8), priority: .normal)
      }
      let other = #"{"id": "0", \#(content), "app": "b", "audience": {"users": ["u"]}}"#
      _ = try await store.jobs.enqueue(Array(other.utf8), priority: .normal)
      var worker = Intake(store: store)
      for _ in 0..<20 where !worker.admitted.contains("b:0") { try await worker.take() }
      #expect(worker.admitted.contains("b:0"), "before most of a")
    }
  }

  @Test func `entries that are seen while those of their app are read are listed, too`()
    async throws
  {
    try await Lane.withStore { _, store in
      let scout = store.keys.scout(.normal)
      _ = try await store.redis("HSET", scout, "cursor", "5-0", "r:b", "2-0")
      _ = try await store.redis("RPUSH", store.keys.express(.normal), "b")
      #expect(try await store.listAhead("5-0", "9-0", "0", "1", "queue", "", "7-0", "b") == "OK")
      #expect(try await store.listAhead("2-0", "5-0", "0", "1", "app", "b", "3-0", "b") == "OK")
      #expect(try await store.redis("HGET", scout, "x:b").string == "3-0 ")
      #expect(try await store.redis("HGET", scout, "r:b").string == "5-0", "7-0 is to be found")
      #expect(try await store.listAhead("5-0", "9-0", "0", "1", "app", "b") == "OK")
      #expect(try await store.redis("HGET", scout, "r:b").string == nil)
      #expect(try await store.listAhead("5-0", "9-0", "0", "1", "queue", "") == "STALE")
    }
  }

  @Test func `a lane is asked for more entries as they turn out to be small`() async throws {
    try await Lane.withStore { _, store in
      let scout = store.keys.scout(.normal)
      _ = try await store.redis("HSET", scout, "cursor", "0-0")
      for (areSmall, page) in [("1", "3"), ("1", "12"), ("1", "48"), ("0", "3"), ("1", "12")] {
        #expect(try await store.listAhead("0-0", "0-0", "1", areSmall, "queue", "") == "OK")
        #expect(try await store.redis("HGET", scout, "page").string == page)
      }
    }
  }

  @Test func `no more jobs are admitted than there is room for, and all of them in the end`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(600, app: "a")
      for number in 0..<40 {
        _ = try await store.jobs.enqueue(Array(Self.text("b", number).utf8), priority: .normal)
      }
      // One at a time: of two, the second could be one more than its app's share.
      var worker = Intake(store: store, atOnce: 1)
      // The scout looks again after some milliseconds only.
      for _ in 0..<5_000 where worker.admitted.count(where: { $0.hasPrefix("b:") }) < 32 {
        try await worker.take()
      }
      while try await worker.take() > 0 {}
      #expect(worker.admitted.count == Set(worker.admitted).count)
      var heldBackMs = try await store.jobs.heldBackMs()
      #expect(heldBackMs != nil)
      let waiting = try #require(try await store.backlog.status().chunks[.normal])
      #expect(waiting >= 64 && waiting <= 64 + 32)
      let early = worker.admitted.filter { $0.hasPrefix("b:") }
      #expect(early.count == 32, "its share")
      while true {
        let claims = try await store.chunks.claim(consumer: "w", max: 16)
        if claims.isEmpty, try await worker.take() == 0 { break }
        for claim in claims {
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
        try await worker.take()
      }
      #expect(worker.admitted.count == 640)
      #expect(Set(worker.admitted).count == 640)
      heldBackMs = try await store.jobs.heldBackMs()
      #expect(heldBackMs == nil)
      _ = try await store.jobs.take(consumer: "w", max: 1)
      let left = try await store.allKeys().filter {
        $0.contains(":scout:") || $0.contains(":express:") || $0.contains(":share:")
      }
      #expect(left == [])
    }
  }

  @Test func `an app with many jobs behind an app with more has its turns, too`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(3_000, app: "a")
      try await store.enqueueMany(300, app: "b")
      try await store.enqueueMany(3_000, app: "a", from: 3_000)
      var worker = Intake(store: store)
      for _ in 0..<10_000 where worker.admitted.count < 800 {
        try await worker.take()
        for claim in try await store.chunks.claim(consumer: "w", max: 8) {
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
      }
      let of = { (app: String) in worker.admitted.count { $0.hasPrefix(app) } }
      #expect(of("b:") >= 200, "\(of("b:")) of b, \(of("a:")) of a")
      #expect(Set(worker.admitted).count == worker.admitted.count)
    }
  }

  @Test func `an entry taken out of its turn is nobody else's when the stream comes to it`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(100, app: "a")
      let early = try await store.jobs.enqueue(Array(Self.text("b", 0).utf8), priority: .normal)
      try await store.enqueueMany(100, app: "a", from: 100)
      var holder = ""
      var taken: [String] = []
      for round in 0..<150 {
        let consumer = "w\(round % 3)"
        for entry in try await store.jobs.take(consumer: consumer, max: 2) {
          taken.append(entry.entry)
          if entry.entry == early { holder = consumer }
        }
      }
      #expect(taken.count == 201 && Set(taken).count == 201)
      #expect(try #require(taken.firstIndex(of: early)) < 90, "it was taken out of its turn")
      let pending = try await store.redis(
        "XPENDING", store.keys.jobs(.normal), "workers", early, early, "1")
      #expect(pending.array?.first?.array?[1].string == holder)
      // Nobody admitted it: another worker takes it up when this one is silent for a lease.
      try await store.abandon(taken)
      var again: [String] = []
      for _ in 0..<210 {
        again += try await store.jobs.take(consumer: "heir", max: 1, abandonedForMs: 400_000)
          .map(\.entry)
      }
      #expect(again.count == taken.count && Set(again) == Set(taken))
    }
  }

  @Test func `nothing is lost or admitted twice when what the scout knew is lost`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(200, app: "a")
      _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "other", "field")
      try await store.enqueueMany(20, app: "b")
      let gone = try await store.jobs.enqueue(Array(Self.text("c", 0).utf8), priority: .normal)
      var worker = Intake(store: store)
      try await worker.take()
      _ = try await store.redis("XDEL", store.keys.jobs(.normal), gone)
      for round in 0..<400 {
        try await worker.take()
        if round % 7 == 0 { _ = try await store.redis("DEL", store.keys.express(.normal)) }
        if round % 11 == 0 { _ = try await store.redis("DEL", store.keys.scout(.normal)) }
        for claim in try await store.chunks.claim(consumer: "w", max: 2) {
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
      }
      #expect(worker.admitted.count == 220 && Set(worker.admitted).count == 220)
      #expect(try await store.backlog.status().jobs[.normal] == 0)
      #expect(try await store.deadLetters.list(max: 10).map(\.reason) == ["malformed_entry"])
    }
  }

  @Test func `chunks that fall due all at once go into the stream as there is room`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueueMany(300, app: "a")
      var worker = Intake(store: store)
      // A network that cannot be reached: what is claimed is put aside.
      for _ in 0..<1_000 where worker.admitted.count < 300 {
        try await worker.take()
        let claims = try await store.chunks.claim(consumer: "w", max: 4)
        _ = try await store.chunks.handBack(claims, consumer: "w", delayMs: 60_000)
      }
      let claims = try await store.chunks.claim(consumer: "w", max: 300)
      _ = try await store.chunks.handBack(claims, consumer: "w", delayMs: 60_000)
      #expect(try await store.backlog.status().delayed == 300)
      let due =
        "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, m) end"
      _ = try await store.redis("EVAL", due, "1", store.keys.delayed)
      var first = try await store.chunks.promote(max: 128)
      #expect(first.taken == 64)
      first = try await store.chunks.promote(max: 128)
      #expect(first.taken == 0)
      try await store.enqueueMany(1, app: "b")
      try await store.enqueueMany(1, app: "a", from: 300)
      try await worker.take()
      #expect(worker.admitted.last == "b:0", "and jobs have to wait, but for an app's share")
      var settled = 0
      while true {
        let moved = try await store.chunks.promote(max: 128).taken
        let claims = try await store.chunks.claim(consumer: "w", max: 16)
        for claim in claims {
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
        settled += claims.count
        let taken = try await worker.take()
        if claims.isEmpty, moved == 0, taken == 0 { break }
      }
      #expect(settled == 302)
    }
  }

  @Test func `due chunks without room do not hide those of another priority`() async throws {
    try await Lane.withStore { _, store in
      func putAside(_ app: String, _ count: Int, _ priority: Priority) async throws {
        let users = (0..<count).map { ["\(app)\($0)"] }
        try await store.admit("j", users: users, priority: priority, app: app)
        let claims = try await store.chunks.claim(consumer: "w", max: 300)
        #expect(claims.count == count)
        _ = try await store.chunks.handBack(claims, consumer: "w", delayMs: 60_000)
      }
      for app in ["a", "b", "c"] { try await putAside(app, 60, .low) }
      for app in ["d", "e"] {
        let users = (0..<32).map { ["\(app)\($0)"] }
        try await store.admit("j", users: users, priority: .low, app: app)
      }
      let low =
        "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, m) end"
      _ = try await store.redis("EVAL", low, "1", store.keys.delayed)
      try await store.admit("j", users: [["n"]], app: "n")
      let claim = try await store.claimOne()
      _ = try await store.chunks.handBack([claim], consumer: "worker", delayMs: 60_000)
      let last =
        "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], -1, -1)) do redis.call('ZADD', KEYS[1], 2, m) end"
      _ = try await store.redis("EVAL", last, "1", store.keys.delayed)
      // A share of each of three apps, and what stands behind the rest.
      let first = try await store.chunks.promote(max: 128).taken
      #expect(try await first + store.chunks.promote(max: 128).taken == 97)
      #expect(try await store.backlog.status().chunks[.normal] == 1)
    }
  }

  @Test func `a reconciliation puts right what an app is thought to have in a stream`() async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"]])
      let key = store.keys.share(.normal)
      #expect(try await store.redis("HGETALL", key).pairs.map(\.1) == ["2"])
      _ = try await store.redis("HSET", key, "shop", "99", "other", "50")
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      #expect(try await store.redis("HGETALL", key).pairs.map(\.0) == ["shop"])
      #expect(try await store.redis("HGET", key, "shop").string == "2")
    }
  }

  @Test func `a campaign leaves room for others, and uses it while nobody needs it`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, (0..<100_000).map { "u\($0)" })
      try await store.admit("bulk", usersKey: "crowd")
      func settleOne() async throws -> String {
        let claim = try await store.claimOne()
        let count = claim.recipientList.count
        _ = try await store.chunks.settle(
          claim, .final(accepted: count, users: count), consumer: "worker")
        return claim.app
      }
      for _ in 0..<130 {
        _ = try await settleOne()
        // Reads on in the key while the stream has room.
        _ = try await store.chunks.promote(max: 1)
      }
      #expect(try await store.backlog.status().chunks[.normal]! == 64)
      let other = try await store.admit("one", users: [["x"]], app: "other")
      #expect(other == .admitted)
      var ahead = 0
      while try await settleOne() != "other" { ahead += 1 }
      #expect(ahead <= 64)
      #expect(try await store.backlog.status().chunks[.normal]! >= 63)
    }
  }
}

/// Takes jobs and admits them, each with one chunk of one user.
private struct Intake {
  let store: ShardStore
  var atOnce = 2
  /// `<app>:<id>` in the order of their admission.
  var admitted: [String] = []

  @discardableResult
  mutating func take() async throws -> Int {
    let entries = try await store.jobs.take(consumer: "worker", max: atOnce)
    for entry in entries {
      let value = try #require(try JSONParser().parse(entry.text).objectValue)
      let app = try #require(value["app"]?.stringValue)
      let id = try #require(value["id"]?.stringValue)
      let admission = Admission(
        app: app, id: id, digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u\n".utf8)]))
      #expect(
        try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      admitted.append("\(app):\(id)")
    }
    return entries.count
  }
}

extension ShardStore {
  /// What a lane tells that has read ahead.
  func listAhead(_ arguments: String...) async throws -> String? {
    let name = "pushpool_list_ahead_\(StoreLibrary.library.version)"
    return try await redis(["FCALL", name, "1", keys.prefix, "normal"] + arguments).string
  }

  func enqueueMany(_ count: Int, app: String, from first: Int = 0) async throws {
    let script = """
      for n = ARGV[1], ARGV[2] do
        redis.call('XADD', KEYS[1], '*', 'job', '{"id": "' .. n .. '", "app" : "' .. ARGV[3] .. '"}')
      end
      """
    _ = try await redis(
      "EVAL", script, "1", keys.jobs(.normal), "\(first)", "\(first + count - 1)", app)
  }
}
