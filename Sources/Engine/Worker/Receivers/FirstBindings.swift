internal import Model
internal import Reactor
internal import Store

/// The bindings of a small job's users, read in the trip to Redis that begins or admits the job. So its pushes leave at
/// once, or as soon as its chunk is claimed; loop-bound.
final class FirstBindings {
  /// What the users' keys held, in their order; nil until Redis has answered, and when that is too much to keep.
  private var texts: [[UInt8]]?
  private let readNs: UInt64
  private let count: Int

  private init(count: Int, readNs: UInt64) {
    self.count = count
    self.readNs = readNs
  }

  /// Reads those of jobs that are taken in together, of many by one command.
  /// - Returns: nil for a job that starts later or is too large for it to matter.
  static func read(_ jobs: [PreparedJob], store: Store, loop: EventLoop) -> [FirstBindings?] {
    var all: [FirstBindings?] = []
    all.reserveCapacity(jobs.count)
    while all.count < jobs.count {
      all += readTogether(jobs[all.count...], store: store, nowNs: loop.nowNs)
    }
    return all
  }

  /// Reads those of the first jobs, as many as one command may ask for.
  private static func readTogether(
    _ jobs: ArraySlice<PreparedJob>, store: Store, nowNs: UInt64
  ) -> [FirstBindings?] {
    guard let usual = jobs.first(where: isRead) else { return jobs.map { _ in nil } }
    var bindings: [FirstBindings?] = []
    let users = min(jobs.count * usual.recipients, WorkerLimits.resolveBatchMax)
    var question = store.installations.question(
      users: users, bytes: users * usual.segments[0].count / usual.recipients)
    for job in jobs {
      guard isRead(job) else {
        bindings.append(nil)
        continue
      }
      let first = question.count
      guard first + job.recipients <= WorkerLimits.resolveBatchMax else { break }
      job.segments[0].withUnsafeBytes { question.add(SegmentLines($0), app: job.app) }
      bindings.append(FirstBindings(count: question.count - first, readNs: nowNs))
    }
    store.installations.ask(question) { [bindings] in
      guard case .success(let resolved) = $0 else { return }
      var first = 0
      for case let own? in bindings {
        own.keep(resolved, from: first)
        first += own.count
      }
    }
    return bindings
  }

  private static func isRead(_ job: PreparedJob) -> Bool {
    job.segments.count == 1 && job.lines == .users && job.deliverAtMs == nil
      && (1...WorkerLimits.firstBindingsMax).contains(job.recipients)
  }

  private func keep(_ resolved: ResolvedUsers, from first: Int) {
    let range = first..<first + count
    let bytes = range.reduce(0) { $0 + resolved.text($1).count }
    guard bytes <= WorkerLimits.firstBindingsBytesMax else { return }
    texts = range.map { Array(resolved.text($0)) }
  }

  /// What was read for a chunk's first batch, and when, in the loop's time.
  /// - Returns: nil when it is not for this batch, has not come or is not of this moment.
  func take(for batch: Range<Int>, nowNs: UInt64) -> (texts: [[UInt8]], readNs: UInt64)? {
    defer { texts = nil }
    guard let texts, batch == 0..<count, texts.count == count,
      nowNs &- readNs < WorkerLimits.firstBindingsMsMax * 1_000_000
    else { return nil }
    return (texts, readNs)
  }
}
