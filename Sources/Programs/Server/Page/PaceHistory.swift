internal import Model

/// The pace of the jobs that are under way, and for some minutes of those that were.
struct PaceHistory {
  /// Bytes and not text, since texts of the same meaning count as equal.
  private struct Key: Hashable {
    let app: [UInt8]
    let id: [UInt8]

    init(_ app: String, _ id: String) {
      self.app = Array(app.utf8)
      self.id = Array(id.utf8)
    }
  }

  private struct Entry {
    var series = PaceSeries()
    var seenMs: Int64
  }

  private var entries: [Key: Entry] = [:]

  /// Notes how far each job is.
  /// - Parameter ended: jobs that ended of late: of those that were seen before, the last counts are taken.
  mutating func add(_ open: [JobRecord], ended: [JobRecord], nowMs: Int64) {
    for job in open where job.isAdmitted { add(job, nowMs) }
    for job in ended { finish(job) }
    entries = entries.filter { nowMs - $0.value.seenMs < ServerLimits.paceKeptMs }
  }

  private mutating func add(_ job: JobRecord, _ nowMs: Int64) {
    let key = Key(job.app, job.id)
    var entry = entries[key] ?? Entry(seenMs: nowMs)
    entry.seenMs = nowMs
    entry.series.add(
      PaceSeries.Point(atMs: nowMs, settled: job.counts.settled, accepted: job.counts.accepted))
    if entries[key] == nil, entries.count >= ServerLimits.paceJobsMax {
      // A job that has ended makes room for one that has begun.
      let gone = entries.filter { $0.value.seenMs < nowMs }
      guard let oldest = gone.min(by: { $0.value.seenMs < $1.value.seenMs }) else { return }
      entries[oldest.key] = nil
    }
    entries[key] = entry
  }

  private mutating func finish(_ job: JobRecord) {
    let key = Key(job.app, job.id)
    guard let finishedMs = job.finishedAtMs, let last = entries[key]?.series.points.last,
      finishedMs > last.atMs, job.counts.settled >= last.settled
    else { return }
    entries[key]?.series.add(
      PaceSeries.Point(
        atMs: finishedMs, settled: job.counts.settled, accepted: job.counts.accepted))
  }

  func series(app: String, id: String) -> PaceSeries? { entries[Key(app, id)]?.series }
}
