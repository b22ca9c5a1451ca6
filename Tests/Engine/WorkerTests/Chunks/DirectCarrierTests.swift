import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Store
@testable import Worker

/// How jobs that are sent from their entries come to their end without a task for each.
@Suite struct DirectCarrierTests {
  /// Has so many jobs of one user each sent, by a lane that knows what is switched off.
  private static func send(
    _ count: Int, _ parts: LaneStage, _ requests: TestRequests
  ) async throws -> Destination {
    try await parts.switches.read()
    for number in 0..<count {
      try await parts.install("user-\(number)", "token-\(number)")
      try await parts.takeIn(id: "job-\(number)", users: ["user-\(number)"])
    }
    let destination = parts.dispatcher.destination(0)
    destination.use(TestDirectory.credential)
    destination.offer(count, requests)
    #expect(requests.taken.count == count && parts.handedOn.isEmpty)
    return destination
  }

  /// How many functions Redis has called.
  private static func calls(_ parts: LaneStage) async throws -> Int {
    let text = try await parts.redis("INFO", "commandstats").string ?? ""
    let line = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_fcall:") })
    return try #require(Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }))
  }

  @Test("all that end in one turn of the loop are told together, by few calls")
  func endsTogether() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let count = WorkerLimits.directEndsMax + 2
      let requests = TestRequests()
      let destination = try await Self.send(count, parts, requests)
      for number in 0..<count - 1 { destination.answer(try requests.tag(number), 200) }
      #expect(parts.telling == 1)
      let before = try await Self.calls(parts)
      await parts.carryOn()
      #expect(try await Self.calls(parts) - before == 2)
      #expect(parts.runs.count == 1)
      // Nobody is thought to be telling still.
      destination.answer(try requests.tag(count - 1), 200)
      #expect(parts.telling == 1)
      await parts.carryOn()
      #expect(parts.runs.count == 0 && parts.handedOn.isEmpty)
      for number in [0, count - 1] {
        let record = try await parts.record("job-\(number)")
        #expect(record.state == .done && record.counts.accepted == 1)
      }
    }
  }

  @Test("what ends while Redis is asked is told by who asks, and by another task when there is much")
  func endsMeanwhile() async throws {
    try await LaneStage.with(sendsDirectly: true) { lane, parts in
      let count = WorkerLimits.directEndsMax + 2
      let requests = TestRequests()
      let destination = try await Self.send(count, parts, requests)
      destination.answer(try requests.tag(0), 200)
      let end = LoopSignal(loop: lane.loop)
      Task {
        _ = lane
        await parts.direct.endReady()
        end.raise()
      }
      await Task.yield()
      destination.answer(try requests.tag(1), 200)
      #expect(parts.telling == 1)
      for number in 2..<count { destination.answer(try requests.tag(number), 200) }
      #expect(parts.telling == 2)
      try #require(await end.wait(upToMs: 10_000))
      #expect(parts.runs.count == 0)
    }
  }

  @Test("an end that Redis cannot be told of is told when it is back")
  func endsLater() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let requests = TestRequests()
      let destination = try await Self.send(1, parts, requests)
      destination.answer(try requests.tag(0), 200)
      await parts.loseConnection()
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("job-0")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test("a job that was cancelled ends as such, and one whose push is doubtful as a chunk")
  func endsOtherwise() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let requests = TestRequests()
      let destination = try await Self.send(2, parts, requests)
      _ = try await parts.store.jobs.cancel(app: "shop", id: "job-0")
      destination.answer(try requests.tag(0), 200)
      destination.answer(try requests.tag(1), 410, #"{"reason":"Unregistered","timestamp":9}"#)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let cancelled = try await parts.record("job-0")
      #expect(cancelled.state == .cancelled && cancelled.counts.accepted == 1)
      let other = try await parts.record("job-1")
      #expect(other.state == .done && other.isBalanced)
      #expect(other.counts.uninstalled + other.counts.rejected == 1)
    }
  }
}
