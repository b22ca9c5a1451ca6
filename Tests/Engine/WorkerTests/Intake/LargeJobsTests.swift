import Model
import Reactor
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct LargeJobsTests {
  private static func entry(_ number: Int) -> JobEntry {
    JobEntry(priority: .normal, entry: "\(number)-0", text: [])
  }

  @Test("one waits, and the next has to until it is taken, or was leased to somebody else")
  func waits() async throws {
    try await TestLane.run { lane in
      let jobs = LargeJobs(loop: lane.loop)
      await jobs.add(Self.entry(1))
      let added = LoopSignal(loop: lane.loop)
      Task {
        _ = lane
        await jobs.add(Self.entry(2))
        added.raise()
      }
      #expect(await !added.wait(upToMs: 20))
      #expect(jobs.waiting == [Self.entry(1)])
      jobs.drop(Self.entry(1))
      try #require(await added.wait(upToMs: 10_000))
      #expect(await jobs.next() == Self.entry(2))
    }
  }
}
