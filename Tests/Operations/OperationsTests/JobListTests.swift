import Model
import Operations
import Redis
import Store
import TestSupport
import Testing

@Suite struct JobListTests {
  private static func add(_ store: ShardStore, _ id: String, startAtMs: Int64? = nil) async throws {
    _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
    let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
    var admission = Admission(
      app: id.hasPrefix("x") ? "other" : "shop", id: id, digest: "d", content: Array("{}".utf8),
      audience: Admission.Audience(lines: .users, recipients: 1, segments: 1),
      timing: Admission.Timing(startAtMs: startAtMs))
    admission.audience.texts = [Array("u1\n".utf8)]
    _ = try await store.jobs.admit(entry, admission, consumer: "w")
  }

  @Test func `jobs are listed with those that run first, and those that ended last`() async throws {
    try await Shards.withStores { _, stores in
      try await Self.add(stores[0], "later", startAtMs: 4_000_000_000_000)
      try await Self.add(stores[1], "held")
      _ = try await stores[1].jobs.pause(app: "shop", id: "held")
      try await Self.add(stores[0], "runs")
      try await Self.add(stores[1], "gone")
      _ = try await stores[1].jobs.cancel(app: "shop", id: "gone")
      for claim in try await stores[1].chunks.claim(consumer: "w", max: 9) {
        try await stores[1].chunks.handBack([claim], consumer: "w", delayMs: 0)
      }
      try await Self.add(stores[0], "x1")
      let all = try await JobList.read(stores, endedMax: 5)
      #expect(all.open.map(\.id) == ["runs", "x1", "held", "later"])
      #expect(all.ended.map(\.id) == ["gone"] && all.openCount == 4)
      #expect(all.ended.first?.counts.skipped == 1)
      let other = try await JobList.read(stores, app: "other", endedMax: 5)
      #expect(other.open.map(\.id) == ["x1"] && other.ended.isEmpty)
      #expect(try await JobList.read(stores, endedMax: 0).ended.isEmpty)
    }
  }

  @Test func `the time that is left follows from the pace so far`() {
    var record = JobRecord(app: "shop", id: "j", state: .running)
    #expect(record.leftMs(nowMs: 10_000) == nil)
    record.startedAtMs = 10_000
    record.counts.accepted = 25
    record.pending = 75
    #expect(record.leftMs(nowMs: 20_000) == 30_000)
    record.state = .paused
    #expect(record.leftMs(nowMs: 20_000) == nil)
  }
}
