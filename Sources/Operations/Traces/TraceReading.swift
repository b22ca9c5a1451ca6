internal import Model
internal import Redis
package import Store

/// The contents of a job's trace that were read: counts of everything, and the last events of a subject.
package struct TraceReading: Sendable {
  package let subject: TraceSubject
  package private(set) var tallies: [TraceTally.Sort: TraceTally] = [:]
  /// The subject's events in their order; the newest, if there are too many.
  package private(set) var events: [TraceEvent] = []
  /// The subject's events, those that are not kept here included.
  package private(set) var matched = 0
  /// Events that were recorded and are gone: the trace passed its limit.
  package private(set) var trimmed = 0
  /// Events that never were recorded: Redis was away or slow.
  package private(set) var lost = 0
  /// Events that were only counted: there were too many alike.
  package private(set) var omitted = 0
  /// Lines of a newer version.
  package private(set) var unreadable = 0

  init(subject: TraceSubject) { self.subject = subject }

  /// Whether everything that is recorded by this job's rule is here.
  package var isComplete: Bool { trimmed + lost + omitted + unreadable == 0 }

  /// Reads the traces that the stores have of the job, all to their ends.
  static func read(
    _ subject: TraceSubject, app: String, job: String, from stores: [ShardStore]
  ) async throws(RedisError) -> TraceReading {
    var reading = TraceReading(subject: subject)
    for store in stores {
      var after: String?
      // The limit is for a trace that grows as fast as it is read.
      for _ in 0..<OperationsLimits.tracePagesMax {
        let page = try await store.traces.page(app: app, job: job, after: after)
        if after == nil { reading.trimmed += page.first?.eventsBefore ?? 0 }
        for entry in page { reading.add(entry) }
        guard page.count == StoreLimits.tracePageMax else { break }
        after = page.last?.entry
      }
    }
    reading.sort()
    return reading
  }

  private mutating func add(_ entry: TraceEntry) {
    unreadable += entry.unreadable
    for event in entry.events { add(event) }
  }

  private mutating func add(_ event: TraceEvent) {
    var sort = TraceTally.Sort(event)
    if tallies[sort] == nil, tallies.count >= OperationsLimits.traceSortsMax { sort.reason = "…" }
    tallies[sort, default: TraceTally()].add(event)
    if event.kind == .omitted {
      if event.cause == .notTaken { lost += event.count } else { omitted += event.count }
      return
    }
    guard subject.matches(event) else { return }
    matched += 1
    events.append(event)
    if events.count >= 2 * OperationsLimits.traceEventsMax {
      events.removeFirst(events.count - OperationsLimits.traceEventsMax)
    }
  }

  /// Lanes write batches, so events of two lanes come in the wrong order.
  private mutating func sort() {
    events = events.enumerated()
      .sorted { ($0.element.atMs, $0.offset) < ($1.element.atMs, $1.offset) }
      .map(\.element)
  }

  /// How many pushes are recorded to have ended so; those that were only counted included.
  func ended(_ decision: TraceDecision) -> Int {
    tallies.reduce(0) { sum, tally in
      guard tally.key.decision == decision else { return sum }
      switch tally.key.cause {
      // A user without an installation has no push; what was called dead in doubt is recorded as that, too.
      case .noInstallation, .tooManyDoubtful: return sum
      default: return sum + tally.value.count
      }
    }
  }
}

extension TraceReading {
  /// The tallies, the most frequent first.
  package var sortedTallies: [(sort: TraceTally.Sort, tally: TraceTally)] {
    tallies.map { ($0.key, $0.value) }.sorted {
      ($1.1.count, $0.1.firstMs) < ($0.1.count, $1.1.firstMs)
    }
  }
}
