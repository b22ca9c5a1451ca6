import Model
import Store
import Testing

@testable import Worker

@Suite struct MaterialStoreTests {
  /// Of jobs 0 up to `count` that a lane has admitted, each with so many bytes: those that it need not ask Redis for. There they
  /// are not.
  private func known(of count: Int, bytes: Int) async throws -> [Int] {
    try await LaneStage.with { _, parts in
      let tracer = Tracer(
        loop: parts.loop, store: parts.store.traces, by: "test", clock: parts.settings.clock)
      let materials = MaterialStore(store: parts.store, tracer: tracer)
      for job in 0..<count {
        materials.add(
          JobContent(), bytes: bytes, createdAtMs: 0, app: "shop", source: "n1-\(job)",
          id: "job-\(job)", firstBindings: nil)
      }
      var known: [Int] = []
      for job in 0..<count {
        let claim = try Claims.claim(["u"], source: "n1-\(job)", job: "job-\(job)")
        if case .material = try await materials.find(claim) { known.append(job) }
      }
      return known
    }
  }

  @Test func `all that a lane takes in at a time is remembered until its chunks are claimed`()
    async throws
  {
    #expect(WorkerLimits.directTakenMax + WorkerLimits.materialsMin <= WorkerLimits.materialsMax)
    let max = WorkerLimits.materialsMax
    #expect(try await known(of: max, bytes: 400) == Array(0..<max))
    #expect(try await known(of: max + 3, bytes: 400) == Array(3..<max + 3))
  }

  @Test func `of jobs with large contents fewer are remembered`() async throws {
    let (min, bytes) = (WorkerLimits.materialsMin, WorkerLimits.materialBytesMax / 8)
    #expect(try await known(of: min + 5, bytes: bytes) == Array(5..<min + 5))
  }
}
