import Model
import Testing

@Suite struct JobRecordTests {
  @Test("the public fields of a record are read, others are passed over")
  func reads() throws {
    let record = try JobRecord(
      app: "shop", id: "j",
      fields: [
        ("state", "running"), ("total", "36"), ("accepted", "1"), ("rejected", "2"),
        ("uninstalled", "3"), ("expired", "4"), ("skipped", "5"), ("failed", "6"),
        ("pending", "15"), ("no_installations", "8"), ("retries", "9"), ("created_at", "10"),
        ("started_at", "11"), ("digest", "abc"), ("priority", "high"), ("bucket", "orders"),
        ("topic", "news"),
      ])
    #expect(record.state == .running)
    #expect(record.counts.accepted == 1)
    #expect(record.counts.rejected == 2)
    #expect(record.counts.uninstalled == 3)
    #expect(record.counts.expired == 4)
    #expect(record.counts.skipped == 5)
    #expect(record.counts.failed == 6)
    #expect(record.counts.noInstallations == 8)
    #expect(record.counts.retries == 9)
    #expect(record.counts.settled == 21)
    #expect(record.pending == 15)
    #expect(record.createdAtMs == 10)
    #expect(record.startedAtMs == 11)
    #expect(record.finishedAtMs == nil)
    #expect(record.priority == .high)
    #expect(record.bucket == "orders" && record.topic == "news")
    #expect(record.isBalanced)
  }

  @Test("the record of a job that has ended tells its priority by its source, and zeros by silence")
  func ended() throws {
    let record = try JobRecord(
      app: "a", id: "j",
      fields: [
        ("state", "done"), ("source", "l1790000000000-0"), ("total", "2"), ("accepted", "2"),
      ])
    #expect(record.priority == .low && record.isBalanced && record.counts.failed == 0)
  }

  @Test("what counts from a start expires by the start that the record has")
  func lives() throws {
    func record(_ lives: String, startAt: String) throws -> JobRecord {
      try JobRecord(
        app: "a", id: "j",
        fields: [
          ("state", "scheduled"), ("start_at", startAt), ("lives", lives), ("expires_at", "5"),
        ])
    }
    #expect(try record("60", startAt: "1790000000000").expiresAtMs == 1_790_000_060_000)
    #expect(try record("60", startAt: "1790007200000").expiresAtMs == 1_790_007_260_000)
    #expect(try record("60", startAt: "0").expiresAtMs == nil)
    #expect(throws: InvalidField.self) { try record("soon", startAt: "1790000000000") }
  }

  @Test("a record whose counters do not add up says so")
  func unbalanced() throws {
    let record = try JobRecord(
      app: "a", id: "j", fields: [("state", "done"), ("total", "2"), ("accepted", "1")])
    #expect(!record.isBalanced)
    #expect(record.state.isFinal)
  }

  @Test("a refused job's record says why, and what a refusal has left in another's says nothing")
  func refusal() throws {
    let left = [
      ("reason", "invalid_job"), ("field", "/id"), ("message", "is long"), ("letter", "5-1"),
      ("refused_at", "12"),
    ]
    let record = try JobRecord(
      app: "a", id: "j", fields: [("state", "refused"), ("source", "h4-1")] + left)
    #expect(
      record.refusal
        == JobRefusal(reason: "invalid_job", field: "/id", message: "is long", letter: "5-1"))
    #expect(record.finishedAtMs == 12 && record.priority == .high && record.state.isFinal)
    let next = try JobRecord(app: "a", id: "j", fields: left + [("state", "running")])
    #expect(next.refusal == nil && next.finishedAtMs == nil)
  }

  @Test("what is not a record is refused")
  func refused() {
    for fields in [
      [], [("state", "sleeping")], [("state", "done"), ("total", "many")],
      [("state", "done"), ("created_at", "")],
    ] {
      #expect(throws: InvalidField.self) { try JobRecord(app: "a", id: "j", fields: fields) }
    }
  }

  @Test("counts add up field by field, and each has its name in the record")
  func counts() {
    var sum = OutcomeCounts()
    #expect(sum.isZero)
    for (position, field) in sum.fields.enumerated() {
      var one = OutcomeCounts()
      one[keyPath: OutcomeCounts.path(field.name)!] = position + 1
      sum += one
      sum += one
    }
    #expect(sum.fields.map(\.count) == [2, 4, 6, 8, 10, 12, 14, 16])
    #expect(sum.settled == 42)
    #expect(!sum.isZero)
    #expect(OutcomeCounts.path("delivered") == nil)
  }
}
