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
    #expect(try Self.job(own, id: "sale").text(from: main, nowMs: 6, aheadMs: 0) == Array(own.utf8))
    let nameless = " \n" + own.replacing(#""id":"sale","#, with: "")
    let text = try Self.job(nameless).text(from: main, nowMs: 6, aheadMs: 0)
    let (job, before) = (try Job(bytes: text), try Job(bytes: Array(nameless.utf8)))
    #expect(job.id == "main-l5-1" && before.id == nil)
    #expect(job.content == before.content && job.app == before.app)
    // However often it is passed on, it is the same job.
    #expect(try Self.job(nameless).text(from: main, nowMs: 6, aheadMs: 0) == text)
    #expect(text.count == nameless.utf8.count + JobElsewhere.bytes(ofMember: "main-l5-1"))
  }

  @Test("the time to live of a job that has waited does not begin anew where it is passed on")
  func timesToLive() throws {
    let main = try ShardID("main")
    func text(_ ttl: String, afterMs: Int64, aheadMs: Int64 = 0) throws -> String {
      let createdAtMs: Int64 = 1_790_000_000_000
      let json =
        #"{"app":"shop","audience":{"users":["u"]},"notification":{"title":"t"},"ttl_seconds":\#(ttl)}"#
      let entry = JobEntry(priority: .low, entry: "\(createdAtMs)-0", text: Array(json.utf8))
      let job = JobElsewhere(
        entry: entry, app: "shop", id: entry.source, hasOwnID: false, shard: try ShardID("eu"),
        expiresAtMs: ttl == "0" ? nil : createdAtMs + 900_000)
      return String(
        decoding: job.text(from: main, nowMs: createdAtMs + afterMs, aheadMs: aheadMs),
        as: UTF8.self)
    }
    #expect(try text("900", afterMs: 59_000).contains(#""ttl_seconds":900"#))
    let late = try text("900", afterMs: 60_000)
    let job = try Job(bytes: Array(late.utf8))
    #expect(job.content.expiry == .at(ms: 1_790_000_900_000) && job.id == "main-l1790000000000-0")
    // It is the same whoever adds it, and whenever.
    #expect(try text("900", afterMs: 2_000_000) == late)
    // The instant is told by the clock of its shard.
    for aheadMs: Int64 in [3_600_000, -3_600_000] {
      let other = try Job(bytes: Array(try text("900", afterMs: 60_000, aheadMs: aheadMs).utf8))
      #expect(other.content.expiry == .at(ms: 1_790_000_900_000 + aheadMs))
    }
    // A clock that says 1970 is no clock.
    #expect(
      try text("900", afterMs: 60_000, aheadMs: -1_790_000_000_000).contains(#""ttl_seconds":900"#))
    // "Now or never" is for the network.
    #expect(try text("0", afterMs: 60_000).contains(#""ttl_seconds":0"#))
  }

  @Test(
    "a small difference of two clocks is none, and a larger one is the same whenever it is measured"
  )
  func clocks() {
    func difference(_ aheadMs: Int64) -> Int64 {
      JobElsewhere.clockDifference(
        thereMs: 1_790_000_000_000 + aheadMs, hereMs: 1_790_000_000_000)
    }
    for aheadMs: Int64 in [0, 1, -30_000, 30_000] { #expect(difference(aheadMs) == 0) }
    for aheadMs: Int64 in [3_600_000, 3_599_000, 3_601_000] {
      #expect(difference(aheadMs) == 3_600_000)
      #expect(difference(-aheadMs) == -3_600_000)
    }
    #expect(JobElsewhere.clockDifference(thereMs: .max, hereMs: -1) == 0)
    #expect(JobElsewhere.clockDifference(thereMs: .max, hereMs: 0) == 0)
    #expect(JobElsewhere.clockDifference(thereMs: .min, hereMs: 0) == 0)
  }

  @Test(
    "seconds to live that count from a time which the text says stay as they are",
    arguments: [
      #""deliver_local":"09:00""#, #""deliver_local":{"time":"09:00","date":"2026-11-21"}"#,
      #""deliver_at":1790007200000"#,
    ])
  func laterStarts(start: String) throws {
    let createdAtMs: Int64 = 1_790_000_000_000
    let json =
      #"{"id":"j","app":"shop","audience":{"users":["u"]},"notification":{"title":"t"},"ttl_seconds":3600,\#(start)}"#
    let before = try Job(bytes: Array(json.utf8))
    let entry = JobEntry(priority: .low, entry: "\(createdAtMs)-0", text: Array(json.utf8))
    let job = JobElsewhere(
      entry: entry, app: "shop", id: "j", hasOwnID: true, shard: try ShardID("eu"),
      expiresAtMs: before.content.expiry?.expiresAtMs(createdAtMs: createdAtMs))
    let text = job.text(from: try ShardID("main"), nowMs: createdAtMs + 70_000, aheadMs: 0)
    #expect(text == entry.text)
    #expect(try Job(bytes: text) == before)
  }

  @Test("jobs are in hand until they are ended, in their order, and no shard waits for another")
  func order() async throws {
    try await TestLane.run { lane in
      let shards = [try ShardID("eu"), try ShardID("us")]
      let jobs = JobsElsewhere(loop: lane.loop, shards: shards)
      let (eu, us) = (jobs.queues[0], jobs.queues[1])
      #expect(eu.next().isEmpty)
      for (number, shard) in ["eu", "eu", "us", "eu"].enumerated() {
        #expect(jobs.take(try Self.job("{}", entry: "\(number)-1", shard: shard)))
      }
      #expect(!jobs.take(try Self.job("{}", entry: "9-1", shard: "ap")))
      let batch = eu.next()
      #expect(batch.map(\.entry.entry) == ["0-1", "1-1", "3-1"])
      #expect(us.next().map(\.entry.entry) == ["2-1"])
      #expect(jobs.inHand.map(\.entry) == ["0-1", "1-1", "3-1", "2-1"])
      eu.settle(kept: [batch[1]], isOpen: true)
      #expect(jobs.inHand.map(\.entry) == ["1-1", "2-1"])
      // What comes meanwhile comes behind.
      #expect(jobs.take(try Self.job("{}", entry: "4-1")))
      #expect(eu.next().map(\.entry.entry) == ["1-1", "4-1"])
      #expect(jobs.has(batch[1].entry) && !jobs.has(batch[0].entry))
      // One that is another worker's by now is not gone on with.
      jobs.drop(batch[1].entry)
      eu.settle(kept: [batch[1]], isOpen: true)
      #expect(eu.next().isEmpty)
    }
  }

  @Test("a job that comes a second time is one")
  func again() async throws {
    try await TestLane.run { lane in
      let queue = QueueElsewhere(try ShardID("eu"), loop: lane.loop)
      for _ in 0..<2 { #expect(queue.add(try Self.job("{}"))) }
      #expect(queue.next().count == 1)
    }
  }

  @Test("so many wait at most, and so many bytes")
  func bounds() async throws {
    try await TestLane.run { lane in
      func queue() throws -> QueueElsewhere {
        QueueElsewhere(try ShardID("eu"), loop: lane.loop)
      }
      let jobs = try queue()
      for number in 0..<WorkerLimits.jobsElsewhereMax {
        #expect(jobs.add(try Self.job("{}", entry: "\(number)-1")))
      }
      let another = try Self.job("{}", entry: "0-2")
      #expect(!jobs.add(another))
      let batch = jobs.next()
      #expect(batch.count == WorkerLimits.jobsElsewhereAtOnceMax && !jobs.add(another))
      jobs.settle(kept: Array(batch.dropFirst()), isOpen: true)
      #expect(jobs.add(another))
      func large(_ entry: String, _ bytes: Int) throws -> JobElsewhere {
        try Self.job(String(repeating: "x", count: bytes), entry: entry)
      }
      let others = try queue()
      let half = WorkerLimits.jobsElsewhereBytesMax / 2 + 1
      #expect(others.add(try large("1-1", half)))
      #expect(try !others.add(large("2-1", half)))
      // One of any size goes alone.
      let first = others.next()
      #expect(first.count == 1)
      others.settle(kept: [], isOpen: true)
      let part = WorkerLimits.bytesElsewhereAtOnceMax / 2 + 1
      for entry in ["3-1", "4-1"] { #expect(others.add(try large(entry, part))) }
      #expect(others.next().map(\.entry.entry) == ["3-1"])
    }
  }

  @Test("what was held for too long is given up, but for what may be there already")
  func overdue() async throws {
    try await TestLane.run { lane in
      let queue = QueueElsewhere(try ShardID("eu"), loop: lane.loop)
      for number in 0..<3 {
        var job = try Self.job("{}", entry: "\(number)-1")
        job.sinceNs = UInt64(number)
        #expect(queue.add(job))
      }
      var batch = queue.next()
      batch[0].standing = .mayBeThere
      queue.settle(kept: batch, isOpen: false)
      let nowNs = 1 + WorkerLimits.heldElsewhereMs * 1_000_000
      #expect(queue.removeOverdue(nowNs: nowNs).map(\.entry.entry) == ["1-1"])
      #expect(queue.inHand.map(\.entry) == ["0-1", "2-1"])
    }
  }
}
