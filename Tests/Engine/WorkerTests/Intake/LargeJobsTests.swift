import Model
import Reactor
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct LargeJobsTests {
  private static func entry(_ number: Int, bytes: Int = 2 * 1024 * 1024) -> JobEntry {
    JobEntry(
      priority: .normal, entry: "\(number)-0", text: [UInt8](repeating: 0x20, count: bytes))
  }

  @Test("one waits whatever it has, and as many as have a MiB together")
  func isFull() async throws {
    try await TestLane.run { lane in
      let jobs = LargeJobs(loop: lane.loop, roomSignal: LoopSignal(loop: lane.loop))
      await jobs.add(Self.entry(1))
      #expect(!jobs.isFull)
      await jobs.add(Self.entry(2, bytes: 1))
      #expect(jobs.isFull)
      let small = LargeJobs(loop: lane.loop, roomSignal: LoopSignal(loop: lane.loop))
      for number in 1...7 { await small.add(Self.entry(number, bytes: 128 * 1024)) }
      #expect(!small.isFull)
      await small.add(Self.entry(8, bytes: 128 * 1024))
      #expect(small.isFull)
      // What a call brought that was made before that has its place, too.
      for number in 9...16 { await small.add(Self.entry(number, bytes: 128 * 1024)) }
      #expect(small.waiting.count == 16)
    }
  }

  @Test("of more than that one has to wait until another is taken, or was leased to somebody else")
  func waits() async throws {
    try await TestLane.run { lane in
      let jobs = LargeJobs(loop: lane.loop, roomSignal: LoopSignal(loop: lane.loop))
      await jobs.add(Self.entry(1))
      await jobs.add(Self.entry(2))
      let added = LoopSignal(loop: lane.loop)
      Task {
        _ = lane
        await jobs.add(Self.entry(3))
        added.raise()
      }
      #expect(await !added.wait(upToMs: 20))
      #expect(jobs.waiting == [Self.entry(1), Self.entry(2)])
      jobs.drop(Self.entry(1))
      try #require(await added.wait(upToMs: 10_000))
      #expect(await jobs.next() == Self.entry(2))
      #expect(await jobs.next() == Self.entry(3))
    }
  }

  @Test("who left large jobs alone hears when there is room for them, and not before")
  func tellsOfRoom() async throws {
    try await TestLane.run { lane in
      let room = LoopSignal(loop: lane.loop)
      let jobs = LargeJobs(loop: lane.loop, roomSignal: room)
      await jobs.add(Self.entry(1))
      #expect(await jobs.next() == Self.entry(1))
      await jobs.add(Self.entry(2))
      await jobs.add(Self.entry(3))
      #expect(await !room.wait(upToMs: 1))
      #expect(await jobs.next() == Self.entry(2))
      #expect(await room.wait(upToMs: 10_000))
    }
  }
}
