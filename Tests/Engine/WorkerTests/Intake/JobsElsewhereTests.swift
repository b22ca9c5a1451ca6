import Model
import Store
import Testing
import TestSupport

@testable import Worker

/// Jobs that a lane has for other shards.
@Suite struct JobsElsewhereTests {
  private static func job(
    _ text: String, id: String? = nil, entry: String = "5-1", shard: String = "eu"
  ) throws -> JobElsewhere {
    let entry = JobEntry(priority: .low, entry: entry, text: Array(text.utf8))
    return JobElsewhere(
      entry: entry, app: "shop", id: id ?? entry.source, hasOwnID: id != nil,
      shard: try ShardID(shard), expiresAtMs: nil)
  }

  @Test("a job keeps its id, and one without is named by the shard and the entry that it came from")
  func texts() throws {
    let own = #"{"id":"sale","app":"shop","audience":{"users":["u"]},"notification":{"title":"t"}}"#
    let main = try ShardID("main")
    #expect(try Self.job(own, id: "sale").text(from: main) == Array(own.utf8))
    let nameless = " \n" + own.replacing(#""id":"sale","#, with: "")
    let text = try Self.job(nameless).text(from: main)
    let (job, before) = (try Job(bytes: text), try Job(bytes: Array(nameless.utf8)))
    #expect(job.id == "main-l5-1" && before.id == nil)
    #expect(job.content == before.content && job.app == before.app)
    // However often it is passed on, it is the same job.
    #expect(try Self.job(nameless).text(from: main) == text)
  }

  @Test(
    "jobs are handed out for one shard at a time, in their order, and are in hand until they are ended"
  )
  func order() async throws {
    try await TestLane.run { lane in
      let jobs = JobsElsewhere(loop: lane.loop)
      #expect(jobs.next().isEmpty && !jobs.areAny)
      for (number, shard) in ["eu", "eu", "us", "eu"].enumerated() {
        let job = try Self.job("{}", entry: "\(number)-1", shard: shard)
        #expect(jobs.add(job))
      }
      #expect(jobs.next().map(\.entry.entry) == ["0-1", "1-1"])
      #expect(jobs.inHand.map(\.entry) == ["0-1", "1-1", "2-1", "3-1"])
      jobs.noteEnded()
      #expect(jobs.inHand.map(\.entry) == ["2-1", "3-1"])
      #expect(jobs.next().map(\.entry.entry) == ["2-1"])
      jobs.noteEnded()
      #expect(jobs.next().map(\.entry.entry) == ["3-1"] && !jobs.areAny)
    }
  }

  @Test("so many wait at most, and so many bytes")
  func bounds() async throws {
    try await TestLane.run { lane in
      let jobs = JobsElsewhere(loop: lane.loop)
      let small = try Self.job("{}")
      for _ in 0..<WorkerLimits.jobsElsewhereMax { #expect(jobs.add(small)) }
      #expect(!jobs.add(small))
      let batch = jobs.next()
      #expect(batch.count == WorkerLimits.jobsElsewhereAtOnceMax && jobs.add(small))
      let large = try Self.job(
        String(repeating: "x", count: WorkerLimits.jobsElsewhereBytesMax / 2 + 1))
      let others = JobsElsewhere(loop: lane.loop)
      #expect(others.add(large) && !others.add(large))
      _ = others.next()
      #expect(others.add(large))
    }
  }
}
