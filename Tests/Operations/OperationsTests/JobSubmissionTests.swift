import Model
import Operations
import Store
import Testing

/// Jobs as producers give them.
@Suite struct JobSubmissionTests {
  private static let rest = """
    "app": "shop", "audience": {"users": ["a"]}, "notification": {"body": "x"}
    """

  @Test func `a job that is added has its own id, or that of its entry`() async throws {
    try await Shards.withStores { _, stores in
      let named = try JobSubmission(checking: Array(#"{"id": "j", \#(Self.rest)}"#.utf8))
      let job = try await named.enqueue(in: stores[1], priority: .high)
      #expect(job.app == "shop" && job.id == "j" && job.priority == .high)
      #expect(try await stores[1].jobs.isQueued(job.entry, .high))
      let unnamed = try JobSubmission(checking: Array("{\(Self.rest)}".utf8))
      let other = try await unnamed.enqueue(in: stores[1], priority: .low)
      #expect(unnamed.id == nil && other.id == JobSource.of(other.entry, .low))
      #expect(try await stores[0].backlog.status().jobs[.high] == 0)
    }
  }

  @Test func `a job that is submitted is added once where the server can tell, else as ever`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let submission = try JobSubmission(checking: Array(#"{"id": "j", \#(Self.rest)}"#.utf8))
      let other = try JobSubmission(
        checking: Array(#"{"id": "j", "ttl_seconds": 9, \#(Self.rest)}"#.utf8))
      // Nobody has put the function there.
      guard case .created(let plain) = try await submission.submit(in: stores[1], priority: .low)
      else {
        Issue.record("it was not added")
        return
      }
      #expect(plain.id == "j")
      #expect(try await stores[1].jobs.record(app: "shop", id: "j") == nil)
      try await stores[1].registration.provide()
      guard case .created(let job) = try await submission.submit(in: stores[1], priority: .high)
      else {
        Issue.record("it was not added")
        return
      }
      #expect(try await stores[1].jobs.isQueued(job.entry, .high))
      guard case .replayed(let again) = try await submission.submit(in: stores[1], priority: .high)
      else {
        Issue.record("it was added again")
        return
      }
      #expect(again.entry == job.entry && again.id == "j")
      let sighting = try await JobWatch(job: again, stores: stores).look(Patience())
      #expect(sighting.record?.state == .queued)
      guard case .conflict(let field) = try await other.submit(in: stores[1], priority: .high)
      else {
        Issue.record("another job of the id was added")
        return
      }
      #expect(field.pointer == "/id")
    }
  }

  @Test func `a text that is not checked is added as it is, with the names that it has`()
    async throws
  {
    let bad = Array(#"{"id": "j", "extra": 1, \#(Self.rest)}"#.utf8)
    let fault = #expect(throws: InvalidField.self) { _ = try JobSubmission(checking: bad) }
    #expect(fault?.pointer == "/extra")
    let submission = JobSubmission(unchecked: bad)
    #expect(submission.app == "shop" && submission.id == "j" && submission.job == nil)
    try await Shards.withStores { _, stores in
      let nameless = JobSubmission(unchecked: Array("no JSON".utf8))
      #expect(nameless.app == nil && nameless.id == nil)
      let job = try await nameless.enqueue(in: stores[0], priority: .normal)
      #expect(job.app == "" && job.id == JobSource.of(job.entry, .normal))
      let added = try await stores[0].jobs.take(consumer: "w", max: 1).first
      #expect(added?.text == Array("no JSON".utf8))
    }
  }
}
