import Model
import Redis
import Testing

@testable import Store

/// The pace of a job, by the server's clock.
@Suite struct PaceTests {
  private func start(_ store: ShardStore, _ pace: JobPace?, users: Int = 1) async throws {
    let entry = try await store.takeNew()
    var admission = Admission(
      app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: users, segments: 1,
        texts: [Array((0..<users).map { "u\($0)\n" }.joined().utf8)]))
    admission.timing.pace = pace
    #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
  }

  private func draw(_ store: ShardStore, _ wanted: Int) async throws -> Int {
    try await store.jobs.drawPace(app: "shop", id: "j1", wanted: wanted).granted
  }

  /// Lets so much time pass for the job's bucket.
  private func pass(_ store: ShardStore, ms: Int) async throws {
    let key = store.keys.pace(app: "shop", job: "j1")
    let at = try #require(Double(try await store.redis("HGET", key, "at").string ?? ""))
    _ = try await store.redis("HSET", key, "at", "\(at - Double(ms))")
  }

  private func nowMs(_ store: ShardStore) async throws -> Int {
    let time = try await store.redis("TIME").array ?? []
    let parts = time.compactMap { $0.string.flatMap { Int($0) } }
    return parts[0] * 1_000 + parts[1] / 1_000
  }

  @Test("a claim says whether its job keeps to a pace", arguments: [nil, JobPace.perSecond(100)])
  func claims(pace: JobPace?) async throws {
    try await Lane.withStore { _, store in
      try await start(store, pace)
      #expect(try await store.claimOne().isPaced == (pace != nil))
    }
  }

  @Test("a job gets its pushes a second, and a quarter of a second's at once")
  func perSecond() async throws {
    try await Lane.withStore { _, store in
      try await start(store, .perSecond(100))
      let beforeMs = try await nowMs(store)
      #expect(try await draw(store, 1_000) == 25)
      let early = try await draw(store, 1_000)
      #expect(early <= 2 + (try await nowMs(store) - beforeMs) / 10, "little time has passed")
      try await pass(store, ms: 100)
      let later = try await draw(store, 1_000)
      #expect((10...14 + (try await nowMs(store) - beforeMs) / 10).contains(later))
      try await pass(store, ms: 60_000)
      #expect(try await draw(store, 1_000) == 25, "what was not used is void")
    }
  }

  @Test("what is open is spread over what is left of the time")
  func spreads() async throws {
    try await Lane.withStore { _, store in
      // So long a time that what a slow machine needs for the test is little of it.
      try await start(store, .spread(seconds: 10_000))
      let key = store.keys.job(app: "shop", id: "j1")
      _ = try await store.redis("HSET", key, "pending", "200000")
      #expect((4...6).contains(try await draw(store, 1_000)), "20 a second")
      let startedMs = try #require(
        Int(try await store.redis("HGET", key, "started_at").string ?? ""))
      _ = try await store.redis("HSET", key, "started_at", "\(startedMs - 9_000_000)")
      try await pass(store, ms: 60_000)
      #expect((45...56).contains(try await draw(store, 1_000)), "200 a second at the end")
      _ = try await store.redis("HSET", key, "started_at", "\(startedMs - 11_000_000)")
      #expect(try await draw(store, 1_000) == 1_000, "what is late waits no longer")
    }
  }

  @Test("a pace is set, changed and ended while the job runs")
  func changes() async throws {
    try await Lane.withStore { _, store in
      let key = store.keys.job(app: "shop", id: "j1")
      try await start(store, nil)
      #expect(try await draw(store, 1_000) == 1_000)
      #expect(try await store.jobs.setPace(app: "shop", id: "j1", perSecond: 4_000) == .running)
      #expect(try await draw(store, 10_000) == 1_000)
      #expect(try await store.redis("HGET", key, "window").string == "4")
      #expect(try await store.jobs.setPace(app: "shop", id: "j1", perSecond: nil) == .running)
      #expect(try await draw(store, 10_000) == 10_000)
      #expect(
        try await store.redis("HGET", key, "window").string == "\(Limits.segmentHighWaterMax)")
      #expect(try await store.jobs.setPace(app: "shop", id: "other", perSecond: 1) == nil)
    }
  }
}
