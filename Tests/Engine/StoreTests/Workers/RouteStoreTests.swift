import Model
import Redis
import Testing

@testable import Store

/// Work that waits for a worker with credentials for it.
@Suite struct RouteStoreTests {
  private static let waitMs: UInt64 = 600_000
  private static let shop = RouteTable(fields: [("shop", "apns|production")])
  private static let both = RouteTable(
    fields: [("news", ""), ("shop", "apns|production,fcm|production,fcm|development")])

  /// Enqueues a job, takes it and sets it aside.
  private func passOn(
    _ store: ShardStore, app: String = "news", suggestion: String? = nil
  ) async throws -> String {
    let entry = try await store.takeNew()
    let answer = try await store.routes.passOn(
      [JobOfUnknownApp(entry: entry, app: app, id: entry.source, suggestion: suggestion)],
      consumer: "worker", waitMs: Self.waitMs)[0].get()
    #expect(answer == .ok)
    return entry.entry
  }

  private func alarms(_ store: ShardStore) async throws -> [Alarm] {
    try await store.alarms.current(nowMs: 0)
  }

  @Test func `workers of one configuration share its only copy`() async throws {
    try await Lane.withStore { _, store in
      let apps = (0..<1_000).map {
        ("app-\($0)", "apns|production,apns|development,fcm|production")
      }
      let table = RouteTable(fields: apps)
      for _ in 0..<100 {
        let news = try await store.routes.announce(table, waitMs: Self.waitMs)
        #expect(
          news
            == RouteNews(
              hasWork: false, isAnythingWaiting: false, isGathering: true, digests: [table.digest]))
      }
      // And the sign that this fleet has just begun.
      #expect(try await store.allKeys().count == 3)
      #expect(try await store.routes.table(table.digest) == table)
      // When Redis has lost it, it is published again.
      _ = try await store.redis("DEL", "{pp}:routes:\(table.digest)")
      _ = try await store.routes.announce(table, waitMs: Self.waitMs)
      #expect(try await store.routes.table(table.digest) == table)
    }
  }

  @Test func `a configuration of as many apps as there may be is published`() async throws {
    try await Lane.withStore { _, store in
      let table = RouteTable(
        fields: (0..<10_000).map { ("app-\($0)", "apns|production,fcm|production") })
      _ = try await store.routes.announce(table, waitMs: Self.waitMs)
      #expect(try await store.routes.table(table.digest) == table)
    }
  }

  @Test func `of too many configurations the latest count`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      let nowMs = try await store.serverSeconds() * 1_000
      for number in 0..<200 {
        // Some seconds ago: no worker has them any more.
        _ = try await store.redis("ZADD", "{pp}:routes", "\(nowMs - 10_000)", "old-\(number)")
      }
      let news = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      #expect(news.digests.count == 128)
      #expect(news.digests.contains(Self.both.digest) && news.digests.contains(Self.shop.digest))
      // A job whose app only the latest has is not refused, nor is its route unknown.
      _ = try await passOn(store)
      #expect(try await alarms(store).isEmpty)
    }
  }

  @Test func `a job that was set aside is found by operators and delivered to nobody else`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      let entry = try await passOn(store, suggestion: "shop")
      #expect(try await store.jobs.take(consumer: "other", max: 2, abandonedForMs: 0).isEmpty)
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
      #expect(try await alarms(store).map(\.field) == ["no_worker|news"])
      #expect(try await alarms(store).first?.message.contains("did you mean \"shop\"?") == true)
      let news = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      #expect(!news.hasWork && news.isAnythingWaiting)
      #expect(
        try await store.routes.takeJobs(consumer: "other", for: Self.shop, max: 8).isEmpty
      )
      // A worker comes that has the app.
      var work = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      work = try await eventually(work) {
        try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      }
      #expect(work.hasWork)
      let jobs = try await store.routes.takeJobs(
        consumer: "k-0", for: Self.both, max: 8)
      #expect(jobs.map(\.entry) == [entry])
      #expect(jobs.map(\.deliveries) == [1])
      #expect(try await alarms(store).isEmpty)
      // It is the worker's now, and another's if that one dies.
      let again = try await store.jobs.take(consumer: "other", max: 2, abandonedForMs: 0)
      #expect(again.map(\.entry) == [entry])
      #expect(again.map(\.deliveries) == [2])
    }
  }

  /// Announces until the look at what waits, which is taken now and then, has found work.
  private func eventually(
    _ first: RouteNews, _ announce: () async throws -> RouteNews
  ) async throws -> RouteNews {
    var news = first
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(30)
    while !news.hasWork, clock.now < deadline { news = try await announce() }
    return news
  }

  @Test func `a chunk that was passed on is claimed once, and others leave its entry alone`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      try await store.admit("a", users: [["u1", "u2"], ["u3"]])
      let claim = try await store.claimOne("worker")
      #expect(
        try await store.routes.passOn(claim, consumer: "worker", waitMs: Self.waitMs))
      #expect(
        try await !store.routes.passOn(claim, consumer: "worker", waitMs: Self.waitMs))
      let second = try await store.claimOne("worker")
      #expect(try await store.chunks.claim(consumer: "worker", max: 4).isEmpty)
      let routed = try await store.routes.claim(
        consumer: "k-0", for: Self.both, max: 4)
      #expect(routed.map(\.segment) == ["1"])
      #expect(routed.map(\.crashes) == [0])
      #expect(
        try await store.routes.claim(consumer: "k-1", for: Self.both, max: 4).isEmpty)
      // The stream's order comes to it: it stays with its holder.
      #expect(try await store.chunks.claim(consumer: "worker", max: 4).isEmpty)
      #expect(
        try await store.chunks.heartbeat(routed + [second], consumer: "k-0") == [.ok, .stale])
      // Its holder dies: it is anybody's again, after a crash.
      #expect(try await store.chunks.reclaim(consumer: "j-0", leaseMs: 0, max: 1).count <= 1)
      #expect(try await store.jobs.reconcile(app: "shop", id: "a") == .sound)
    }
  }

  @Test func `a chunk that was passed on outlives its holder, with a crash counted`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      try await store.admit("a", users: [["u1"]])
      try await store.routes.passOn(
        try await store.claimOne("worker"), consumer: "worker", waitMs: Self.waitMs)
      let routed = try await store.routes.claim(
        consumer: "k-0", for: Self.both, max: 4)
      #expect(routed.count == 1)
      #expect(try await store.chunks.reclaim(consumer: "j-0", leaseMs: 0, max: 4).isEmpty)
      let taken = try await store.claimOne("j-0")
      #expect(taken.crashes == 1)
      var settlement = Settlement.final(accepted: 1, users: 1)
      settlement.done.insert(0)
      #expect(
        try await store.chunks.settle(routed[0], settlement, consumer: "k-0").standing == .stale)
      #expect(
        try await store.chunks.settle(taken, settlement, consumer: "j-0").standing == .ok)
      #expect(try await store.record("a").counts.accepted == 1)
      #expect(try await store.record("a").state == .done)
    }
  }

  @Test func `pushes without credentials are skipped if no worker has them, and wait otherwise`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      for (id, table) in [
        ("gathering", Self.shop), ("skipped", Self.shop), ("waiting", Self.both),
      ] {
        // In a fleet that has just begun others may say yet that they have it.
        if id == "skipped" { _ = try await store.redis("DEL", store.keys.routesGathering) }
        _ = try await store.routes.announce(table, waitMs: Self.waitMs)
        try await store.admit(id, users: [["u1"], ["u2"]])
        let claim = try await store.claimOne()
        var settlement = Settlement()
        settlement.isFinal = true
        settlement.resolveUser(installations: 2)
        var lines: [UInt8] = []
        for token in ["t1", "t2"] {
          InstallationLine.append(DeviceToken(stored: token, network: .fcm), to: &lines)
        }
        settlement.unrouted = [
          Settlement.Unrouted(network: .fcm, environment: .production, lines: lines)
        ]
        let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
        let record = try await store.record(id)
        #expect(record.isBalanced)
        if id == "skipped" {
          #expect(answer.skipped == ["fcm|production"])
          #expect(record.counts.skipped == 2)
          #expect(record.pending == 1)
        } else {
          #expect(answer.skipped.isEmpty)
          #expect(record.counts.skipped == 0)
          #expect(record.pending == 3)
        }
        _ = try await store.chunks.settle(
          try await store.claimOne(), .final(accepted: 1, users: 1), consumer: "worker")
      }
      let routed = try await store.routes.claim(
        consumer: "k-0", for: Self.both, max: 4)
      #expect(routed.map(\.job) == ["waiting"])
      #expect(routed.map(\.lines) == [.installations])
    }
  }

  @Test func `jobs of more apps than are waited for are refused at once`() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<1_000 {
        _ = try await store.redis("ZADD", "{pp}:unrouted", "1", "app-\(number)")
      }
      let entry = try await store.takeNew()
      let full = try await store.routes.passOn(
        [JobOfUnknownApp(entry: entry, app: "news", id: "a", suggestion: nil)],
        consumer: "worker", waitMs: Self.waitMs)[0].get()
      #expect(full == .full)
      // Not those that somebody has, or that others wait for.
      _ = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      for app in ["news", "app-7"] {
        _ = try await passOn(store, app: app)
      }
    }
  }

  @Test func `nothing is given up while the fleet gathers, or where dead letters have no place`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await passOn(store)
      let gathering = try await store.routes.announce(Self.shop, waitMs: 1)
      #expect(gathering.isGathering)
      #expect(try await store.deadLetters.count() == 0)
      _ = try await store.redis("SET", store.keys.dead, "not a stream")
      for _ in 0..<3 { try await announceGathered(store) }
      _ = try await store.redis("DEL", store.keys.dead)
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
      // What could not be given up may wait for another millisecond.
      for _ in 0..<100 where try await store.deadLetters.count() == 0 {
        try await announceGathered(store)
      }
      #expect(try await store.deadLetters.count() == 1)
    }
  }

  /// Has a fleet that does not gather look at what waits. It gathers anew after a silence, as of a busy machine.
  private func announceGathered(_ store: ShardStore) async throws {
    for _ in 0..<100 {
      _ = try await store.redis("DEL", "{pp}:routes_gathering", "{pp}:unrouted:sweep")
      if try await !store.routes.announce(Self.shop, waitMs: 1).isGathering { return }
    }
    Issue.record("the fleet gathers for ever")
  }

  @Test func `what nobody has is given up some at a time, oldest first, unless it is paused`()
    async throws
  {
    try await Lane.withStore { _, store in
      for _ in 0..<250 { _ = try await passOn(store) }
      let paused = try await passOn(store)
      let source = JobSource.of(paused, .normal)
      _ = try await store.redis(
        "HSET", "{pp}:job:news:\(source)", "state", "paused", "source", source)
      var before = 0
      var calls = 0
      let clock = ContinuousClock()
      let deadline = clock.now + .seconds(30)
      while before < 250, clock.now < deadline {
        _ = try await store.routes.announce(Self.shop, waitMs: 1, retentionSeconds: 3_600)
        let count = try await store.deadLetters.count()
        #expect(count - before <= 50)
        if count > before { calls += 1 }
        before = count
      }
      #expect(before == 250)
      #expect(calls == 5)
      let letters = try await store.deadLetters.list(max: 500)
      #expect(letters.allSatisfy { $0.reason == "unknown_app" && $0.app == "news" })
      let last = try #require(letters.last)
      let record = try await store.record(JobSource.of(last.jobEntry, .normal), app: "news")
      #expect(record.refusal?.letter == last.entry && record.refusal?.field == "/app")
      let seconds = try await store.redis("TTL", store.keys.job(app: "news", id: record.id))
      #expect((3_400...3_600).contains(seconds.integer ?? 0))
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 1)
    }
  }

  @Test func `what waits for an app that a worker has left out is not given up, nor refused`()
    async throws
  {
    let partly = RouteTable(
      fields: [("news", RouteTable.leftOut), ("shop", "apns|production")])
    #expect(partly.has("shop") && !partly.has("news") && partly.apps.contains("news"))
    #expect(!partly.has("news", .apns, .production))
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(partly, waitMs: Self.waitMs)
      _ = try await passOn(store)
      #expect(try await alarms(store).map(\.field) == ["no_worker|news"])
      #expect(try await alarms(store).first?.message.contains("left out") == true)
      _ = try await passOn(store, app: "typo")
      // Of the other, which nobody names, nothing is left after a while.
      for _ in 0..<200 where try await store.deadLetters.count() == 0 {
        _ = try await store.redis("DEL", "{pp}:routes_gathering", "{pp}:unrouted:sweep")
        _ = try await store.routes.announce(partly, waitMs: 1)
      }
      #expect(try await store.deadLetters.list(max: 9).map(\.app) == ["typo"])
      #expect(try await store.redis("ZCARD", "{pp}:unrouted:jobs:news").integer == 1)
      let news = try await store.routes.announce(partly, waitMs: 1)
      #expect(!news.hasWork && news.isAnythingWaiting)
      #expect(
        try await store.routes.takeJobs(consumer: "k-0", for: partly, max: 8).isEmpty)
      // Its files are mended.
      var work = try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      work = try await eventually(work) {
        try await store.routes.announce(Self.both, waitMs: Self.waitMs)
      }
      #expect(work.hasWork)
    }
  }

  @Test("a job whose route cannot be listed is left where it is")
  func leavesUnlistable() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      _ = try await store.redis("SET", "{pp}:unrouted:hints", "text")
      let entry = try await store.takeNew()
      let job = JobOfUnknownApp(entry: entry, app: "news", id: entry.source, suggestion: "shop")
      let refused = await store.routes.passOn(
        [job], consumer: "worker", waitMs: Self.waitMs)[0]
      let error = #expect(throws: RedisError.self) { try refused.get() }
      #expect("\(try #require(error))".contains("{pp}:unrouted:hints holds a string"))
      let left = try await store.redis("EXISTS", "{pp}:unrouted:jobs:news", "{pp}:unrouted")
      #expect(left.integer == 0)
      _ = try await store.redis("DEL", "{pp}:unrouted:hints")
      let passed = await store.routes.passOn(
        [job], consumer: "worker", waitMs: Self.waitMs)[0]
      #expect(try passed.get() == .ok)
      #expect(try await alarms(store).first?.message.contains("did you mean \"shop\"?") == true)
    }
  }
}
