import Logging
import Model
import Store
import Testing

@testable import Worker

@Suite struct ChunkStarterTests {
  @Test("a chunk of an app that this worker lacks is left to another")
  func passesOn() async throws {
    try await LaneStage.with { _, parts in
      _ = try await parts.store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      let entry = try #require(try await parts.store.jobs.take(consumer: "w", max: 1).first)
      let content = JobContent(notification: Notification(title: "Hi"))
      let admission = Admission(
        app: "news", id: "n1", digest: "d", content: content.canonicalBytes(),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)]))
      _ = try await parts.store.jobs.admit(entry, admission, consumer: "w")
      let claim = try #require(
        try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
      try await parts.starter.begin(claim)
      #expect(parts.runs.count == 0)
      #expect(parts.lines.has(.warning, "news is not in this worker's configuration"))
      let news = try await parts.store.routes.announce(
        RouteTable(fields: [("news", "apns|production")]), waitMs: 60_000)
      #expect(news.hasWork)
    }
  }

  @Test("a chunk whose job's content is lost is buried, with a reason")
  func buries() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let claim = try #require(
        try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
      _ = try await parts.redis("DEL", parts.store.keys.content(app: "shop", id: "sale"))
      // Another lane, which has not admitted it.
      let other = LaneStage(
        parts.loop, parts.store, try TestDirectory.of(.production), consumer: "test-0")
      try await other.starter.begin(claim)
      #expect(other.runs.count == 0)
      #expect(try await parts.store.deadLetters.list(max: 1).map(\.reason) == ["content_missing"])
      #expect(other.lines.has(.error, "no longer in Redis"))
    }
  }

  @Test("a chunk whose network cannot be sent to now is handed back as it is")
  func leavesParked() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let claim = try #require(
        try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
      parts.sending.destinations.destination(0).pause(forMs: 60_000)
      try await parts.starter.begin(claim)
      #expect(parts.runs.count == 0)
      #expect(try await parts.store.backlog.status().delayed == 1)
      let record = try await parts.record("sale")
      #expect(record.state == .running && record.counts.retries == 0 && record.pending == 1)
    }
  }

  @Test("a lane that is to end begins nothing")
  func drains() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let claim = try #require(
        try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
      parts.life.drain()
      try await parts.starter.begin(claim)
      #expect(parts.runs.count == 0)
      #expect(try await parts.store.backlog.status().delayed == 1)
    }
  }

  @Test("of the chunks that workers were lost with more than once one is carried at a time")
  func setsPoisonApart() async throws {
    try await LaneStage.with { _, parts in
      for id in ["j1", "j2"] { try await parts.takeIn(id: id, users: ["a"]) }
      _ = try await parts.store.chunks.claim(consumer: "w1", max: 2)
      var claims: [ChunkClaim] = []
      for consumer in ["w2", "w3", "test-0"] {
        claims = []
        for _ in 0..<4 where claims.count < 2 {
          claims += try await parts.store.chunks.reclaim(consumer: consumer, leaseMs: 0, max: 2)
        }
      }
      #expect(claims.allSatisfy { $0.crashes >= WorkerLimits.poisonCrashesMin })
      let first = try #require(claims.first { $0.job == "j1" })
      let second = try #require(claims.first { $0.job == "j2" })
      try await parts.starter.begin(first)
      try await parts.starter.begin(second)
      #expect(parts.runs.all.map(\.claim.job) == ["j1"])
      #expect(try await parts.store.backlog.status().delayed == 1)
    }
  }

  @Test("a chunk whose app was switched off after its claim sends nothing")
  func heedsSwitches() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let claim = try #require(
        try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      _ = await parts.switches.turn()
      try await parts.starter.begin(claim)
      #expect(parts.runs.all.map(\.standing) == [.paused])
    }
  }
}
