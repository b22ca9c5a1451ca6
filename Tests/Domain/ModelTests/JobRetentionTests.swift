import Model
import Testing

@Suite struct JobRetentionTests {
  private static let retention = JobRetention(
    manySeconds: 604_800, namedSeconds: 86_400, unnamedSeconds: 3_600)

  private static func spans(
    hasID: Bool = true, receivers: Int? = 1, ownSeconds: Int? = nil, isTraced: Bool = false
  ) -> JobRetention.Spans {
    retention.spans(
      hasID: hasID, receivers: receivers, ownSeconds: ownSeconds, isTraced: isTraced)
  }

  @Test("a job to few is kept for an hour, or a day with an id, and one to many for a week")
  func kinds() {
    #expect(Self.spans(hasID: false).wellSeconds == 3_600)
    #expect(Self.spans(hasID: true).wellSeconds == 86_400)
    for hasID in [false, true] {
      let few = Self.spans(hasID: hasID, receivers: Limits.fewReceiversMax)
      #expect(few.wellSeconds < 604_800)
      #expect(Self.spans(hasID: hasID, receivers: 101).wellSeconds == 604_800)
      #expect(Self.spans(hasID: hasID, receivers: nil).wellSeconds == 604_800)
    }
  }

  @Test("a job that does not end well is kept as long as one to many, whatever it says of itself")
  func otherwise() {
    for hasID in [false, true] {
      #expect(Self.spans(hasID: hasID).otherwiseSeconds == 604_800)
    }
    #expect(Self.spans(ownSeconds: 60).otherwiseSeconds == 604_800)
    #expect(Self.spans(ownSeconds: 2_592_000).otherwiseSeconds == 2_592_000)
  }

  @Test("a job's own figure holds in place of its kind's, but for one with a full trace")
  func own() {
    #expect(Self.spans(ownSeconds: 60).wellSeconds == 60)
    #expect(Self.spans(receivers: nil, ownSeconds: 60).wellSeconds == 60)
    #expect(Self.spans(ownSeconds: 60, isTraced: true).wellSeconds == 172_800)
    #expect(Self.spans(hasID: false, isTraced: true).wellSeconds == 172_800)
    #expect(Self.spans(receivers: nil, isTraced: true).wellSeconds == 604_800)
  }

  @Test("a job that has ended is kept by its id, its installations and how they ended")
  func ended() {
    func seconds(
      _ state: JobState = .done, total: Int = 1, hasID: Bool = true,
      _ count: (inout OutcomeCounts) -> Void = { _ in }
    ) -> Int {
      var job = JobRecord(app: "shop", id: "a", state: state)
      job.total = total
      count(&job.counts)
      return Self.retention.seconds(of: job, hasID: hasID)
    }
    #expect(seconds() == 86_400)
    #expect(seconds(hasID: false) == 3_600)
    #expect(seconds(total: 101) == 604_800)
    #expect(seconds { $0.uninstalled = 1 } == 86_400)
    #expect(seconds(.cancelled) == 604_800)
    #expect(seconds { $0.rejected = 1 } == 604_800)
    #expect(seconds { $0.expired = 1 } == 604_800)
    #expect(seconds(hasID: false) { $0.failed = 1 } == 604_800)
  }

  @Test("retention_seconds is read, belongs to what the job is, and is refused out of range")
  func field() throws {
    let plain = try JobTests.job(#""notification":{"body":"B"}"#)
    #expect(plain.retentionSeconds == nil)
    let job = try JobTests.job(#""notification":{"body":"B"},"retention_seconds":60"#)
    #expect(job.retentionSeconds == 60)
    #expect(try Job(json: job.json()) == job)
    #expect(job.canonicalBytes() != plain.canonicalBytes())
    for wrong in ["59", "2592001", "-1", "1.5"] {
      #expect(throws: InvalidField.self) {
        try JobTests.job(#""notification":{"body":"B"},"retention_seconds":\#(wrong)"#)
      }
    }
  }
}
