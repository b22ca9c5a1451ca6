import Model
import Redis
import Store
import Testing

@testable import Worker

/// What a lane remembers of jobs that it has admitted. Of others it finds nothing here, since Redis has none of them.
@Suite struct MaterialStoreTests {
  private static func claim(_ job: Int) throws -> ChunkClaim {
    try Claims.claim(["u"], source: "n1-\(job)", job: "job-\(job)")
  }

  /// Jobs 0 up to `count` are admitted, each with so many bytes.
  /// - Parameter then: what happens before it is looked which of them are known.
  private func known(
    of count: Int, bytes: Int, then: @Sendable (MaterialStore) async throws -> Void = { _ in }
  ) async throws -> [Int] {
    try await LaneStage.with { _, parts in
      let tracer = Tracer(
        loop: parts.loop, store: parts.store.traces, by: "test", clock: parts.settings.shared.clock)
      let materials = MaterialStore(store: parts.store, tracer: tracer)
      for job in 0..<count { materials.admit(job, bytes: bytes) }
      try await then(materials)
      var known: [Int] = []
      for job in 0..<count {
        if case .material = try await materials.find(try Self.claim(job)) { known.append(job) }
      }
      return known
    }
  }

  private static let max = WorkerLimits.materialsMax

  @Test func `all that a lane takes in at a time and holds is remembered`() async throws {
    #expect(WorkerLimits.farDirectTakenMax + WorkerLimits.farRunsMax <= Self.max)
    #expect(try await known(of: Self.max, bytes: 400) == Array(0..<Self.max))
  }

  @Test func `what is not used for longest is forgotten, and counts no more`() async throws {
    let count = 10 * Self.max
    #expect(try await known(of: count, bytes: 400) == Array(count - Self.max..<count))
  }

  @Test func `what was asked for is remembered for longer`() async throws {
    let known = try await known(of: Self.max, bytes: 400) { materials in
      _ = try await materials.find(try Self.claim(0))
      materials.admit(Self.max, bytes: 400)
    }
    #expect(known == [0] + Array(2..<Self.max))
  }

  @Test func `of jobs with large contents fewer are remembered`() async throws {
    let (few, bytes) = (WorkerLimits.largeMaterialsMax, WorkerLimits.materialBytesMax / 8)
    #expect(try await known(of: few + 5, bytes: bytes) == Array(5..<few + 5))
  }

  @Test(
    "a job that is told another start lives from that one on, also in the lane that has admitted it"
  )
  func movesExpiry() async throws {
    try await LaneStage.with { _, parts in
      let time = try await parts.store.connection.call(RedisCommand("TIME")).array ?? []
      let startMs = Int64(try #require(time.first?.integer)) * 1_000 + 3_600_000
      let job = #"""
        {"id": "later", "app": "shop", "audience": {"users": ["u"]}, "notification": {"body": "x"},
         "deliver_at": \#(startMs), "ttl_seconds": 60}
        """#
      _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: .normal)
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      let record = try await parts.record("later")
      let claim = try Claims.claim(
        ["u"], source: try #require(record.source), job: "later",
        digest: ContentDigest.of(try Job(bytes: Array(job.utf8))))
      let movedMs = startMs + 7_200_000
      let answer = try await parts.store.jobs.reschedule(app: "shop", id: "later", atMs: movedMs)
      #expect(answer == .moved)
      guard case .material(let material) = try await parts.materials.find(claim) else {
        return #expect(Bool(false), "the job has no material")
      }
      #expect(material.expiresAtMs == movedMs + 60_000)
    }
  }

  @Test func `a job that is admitted anew counts once`() async throws {
    let known = try await known(of: Self.max, bytes: 400) { materials in
      for _ in 0..<Self.max * 10 { materials.admit(1, bytes: 400) }
    }
    #expect(known.count == Self.max)
  }
}

extension MaterialStore {
  fileprivate func admit(_ job: Int, bytes: Int) {
    add(
      JobContent(), contentBytes: bytes, createdAtMs: 0, app: "shop", source: "n1-\(job)",
      id: "job-\(job)", digest: "d", firstBindings: nil)
  }
}
