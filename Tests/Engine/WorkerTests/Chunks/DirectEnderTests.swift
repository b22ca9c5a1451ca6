import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Store
@testable import Worker

/// How the ends of jobs that were sent from their entries come together in few questions to Redis.
@Suite struct DirectEnderTests {
  /// Jobs that this lane has begun to send.
  private static func begun(_ count: Int, _ parts: LaneStage) async throws -> [DirectEnding] {
    var jobs: [DirectJob] = []
    for number in 0..<count {
      _ = try await parts.store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      let entry = try #require(try await parts.store.jobs.take(consumer: "test-0", max: 1).first)
      var admission = Admission(
        app: "shop", id: "job-\(number)", digest: "d", content: [], lines: .users, recipients: 1,
        segments: 1)
      admission.onlySegment = Array("u\n".utf8)
      jobs.append(DirectJob(entry: entry, admission: admission))
    }
    let answers = try await parts.store.jobs.beginDirect(jobs, consumer: "test-0")
    #expect(answers == Array(repeating: .success(.new), count: count))
    return jobs.map { job in
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.counts[.apns, default: OutcomeCounts()].accepted = 1
      return DirectEnding(job: job, startedAtMs: 1_800_000_000_000, settlement: settlement)
    }
  }

  /// How many functions Redis has called.
  private static func calls(_ parts: LaneStage) async throws -> Int {
    let text = try await parts.redis("INFO", "commandstats").string ?? ""
    let line = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_fcall:") })
    return try #require(Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }))
  }

  @Test("all that end in one turn of the loop are told together, and none of them waits for ever")
  func endsTogether() async throws {
    try await LaneStage.with { lane, parts in
      let max = WorkerLimits.directEndsMax
      let endings = try await Self.begun(3 * max + 8 + 1, parts)
      let ender = DirectEnder(jobs: parts.store.jobs, consumer: "test-0")
      let before = try await Self.calls(parts)
      var ended = 0
      let all = LoopSignal(loop: lane.loop)
      for ending in endings.dropLast() {
        Task {
          _ = lane
          let answer = try? await ender.end(ending)
          #expect(answer == .ended)
          ended += 1
          if ended == endings.count - 1 { all.raise() }
        }
      }
      try #require(await all.wait(upToMs: 10_000))
      #expect(try await Self.calls(parts) - before == 4)
      // Nobody is thought to be asking still.
      var isLastEnded = false
      let last = LoopSignal(loop: lane.loop)
      Task {
        _ = lane
        isLastEnded = try await ender.end(endings[endings.count - 1]) == .ended
        last.raise()
      }
      try #require(await last.wait(upToMs: 10_000))
      #expect(isLastEnded)
    }
  }
}
