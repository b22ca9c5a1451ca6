import Model
import Store
import Testing

@testable import Worker

/// A producer chooses its entries' ids, its stream is deleted, and the same ids come again with other jobs.
@Suite struct RepeatedEntryTests {
  private static func add(_ parts: LaneStage, _ id: String, title: String) async throws {
    let job =
      #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"notification":{"title":"\#(title)"}}"#
    _ = try await parts.redis("XADD", "{pp}:jobs:normal", "5-1", "job", job)
    _ = try await parts.admitter.admitNext(abandonedForMs: nil)
  }

  @Test func `a lane sends the job beside the former one of its entry id`() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let requests = TestRequests()
      try await parts.install("a", "token-a")
      try await Self.add(parts, "first", title: "one")
      _ = try await parts.redis("DEL", "{pp}:jobs:normal")
      try await Self.add(parts, "second", title: "two")
      await parts.carryOn()
      #expect(parts.runs.all.map(\.claim.job).sorted() == ["first", "second"])
      let destination = parts.sending.destinations.destination(0)
      destination.use(TestDirectory.credential)
      destination.offer(10, requests)
      for index in requests.paths.indices { destination.answer(try requests.tag(index), 200) }
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      for id in ["first", "second"] {
        let record = try await parts.record(id)
        #expect(record.state == .done && record.counts.accepted == 1)
      }
    }
  }

  @Test func `a lane that was to begin a job whose entry is gone makes a dead letter of it`()
    async throws
  {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      try await parts.enqueue("gone")
      let entries = try await parts.store.jobs.take(consumer: "test-0", max: 1)
      _ = try await parts.redis("DEL", "{pp}:jobs:normal")
      try await parts.admitter.admit(entries)
      #expect(try await parts.store.deadLetters.list(max: 5).map(\.reason) == ["entry_lost"])
      #expect(parts.lines.all.contains { $0.contains("was deleted after it was taken") })
    }
  }

  @Test func `a job whose entry is deleted while it is sent ends with its record`() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let requests = TestRequests()
      try await parts.install("a", "token-a")
      try await Self.add(parts, "first", title: "one")
      _ = try await parts.redis("DEL", "{pp}:jobs:normal")
      await parts.carryOn()
      let destination = parts.sending.destinations.destination(0)
      destination.use(TestDirectory.credential)
      destination.offer(10, requests)
      // What ends with a dead token takes more than its record.
      destination.answer(try requests.tag(0), 410, #"{"reason":"Unregistered"}"#)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("first")
      #expect(record.state == .done && record.counts.uninstalled == 1)
    }
  }

  @Test func `a chunk is sent with its own content, whatever came by its entry id before`()
    async throws
  {
    try await LaneStage.with { _, parts in
      for title in ["one", "two"] {
        try await Self.add(parts, "sale", title: title)
        let run = try await parts.beginNext().run
        #expect(run.material.content.notification?.title == title)
        parts.runs.remove(run)
        _ = try await parts.redis("FLUSHDB")
      }
    }
  }
}
