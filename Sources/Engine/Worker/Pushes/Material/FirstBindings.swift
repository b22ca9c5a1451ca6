internal import Model
internal import Reactor
internal import Store

/// The bindings of a small job's users, read in the trip to Redis that begins or admits the job. So its pushes leave at
/// once, or as soon as its chunk is claimed; loop-bound.
final class FirstBindings {
  /// How much of a job is read.
  struct Bounds {
    /// A job of more users is not read at all.
    let usersMax: Int
    /// The most bytes that its bindings may hold; more is read again when its turn comes.
    let bytesMax: Int

    /// The bounds for a job that becomes a chunk. The chunk may be another lane's; what was read is then kept for as
    /// long as the job is remembered.
    static let admitted = Bounds(
      usersMax: WorkerLimits.firstBindingsMax, bytesMax: WorkerLimits.firstBindingsBytesMax)
    /// The bounds for a job that is sent from its entry at once.
    static let direct = Bounds(
      usersMax: WorkerLimits.directUsersMax, bytesMax: WorkerLimits.directBindingsBytesMax)
  }

  /// The contents of users' keys, in their order.
  struct Known {
    /// When that was, in the loop's time.
    let readNs: UInt64
    /// One behind the other, and where each ends.
    fileprivate let texts: [UInt8]
    fileprivate let ends: [Int]

    /// Calls the body with each text, which is borrowed, and its place.
    func forEach(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
      texts.withUnsafeBytes { texts in
        var first = 0
        for (place, end) in ends.enumerated() {
          body(place, UnsafeRawBufferPointer(rebasing: texts[first..<end]))
          first = end
        }
      }
    }
  }

  /// Nil until Redis has answered, and when that is too much to keep.
  private var known: Known?
  /// When they were asked for, in the loop's time.
  let readNs: UInt64
  private let count: Int

  private init(count: Int, readNs: UInt64) {
    self.count = count
    self.readNs = readNs
  }

  /// Reads those of jobs that are taken in together, of many by one command.
  /// - Returns: nil for a job that starts later or is too large for it to matter.
  static func read(
    _ jobs: [PreparedJob], within bounds: Bounds, store: ShardStore, loop: EventLoop
  ) -> [FirstBindings?] {
    var all: [FirstBindings?] = []
    all.reserveCapacity(jobs.count)
    while all.count < jobs.count {
      all += readTogether(jobs[all.count...], bounds, store: store, nowNs: loop.nowNs)
    }
    return all
  }

  /// Reads those of the first jobs, as many as one command may ask for.
  private static func readTogether(
    _ jobs: ArraySlice<PreparedJob>, _ bounds: Bounds, store: ShardStore, nowNs: UInt64
  ) -> [FirstBindings?] {
    guard let usual = jobs.first(where: bounds.allow) else { return jobs.map { _ in nil } }
    var bindings: [FirstBindings?] = []
    let usersMax = max(WorkerLimits.resolveBatchMax, bounds.usersMax)
    let users = min(jobs.count * usual.recipients, usersMax)
    var question = store.installations.question(
      users: users, bytes: users * usual.segments[0].count / usual.recipients)
    for job in jobs {
      guard bounds.allow(job) else {
        bindings.append(nil)
        continue
      }
      let first = question.count
      guard first + job.recipients <= usersMax else { break }
      job.segments[0].withUnsafeBytes { question.add(SegmentLines($0), app: job.app) }
      bindings.append(FirstBindings(count: question.count - first, readNs: nowNs))
    }
    store.installations.ask(question) { [bindings] in
      guard case .success(let resolved) = $0 else { return }
      var first = 0
      for case let own? in bindings {
        own.keep(resolved, from: first, bytesMax: bounds.bytesMax)
        first += own.count
      }
    }
    return bindings
  }

  private func keep(_ resolved: ResolvedUsers, from first: Int, bytesMax: Int) {
    let range = first..<first + count
    let bytes = range.reduce(0) { $0 + resolved.text($1).count }
    guard bytes <= bytesMax else { return }
    var texts: [UInt8] = []
    var ends: [Int] = []
    texts.reserveCapacity(bytes)
    ends.reserveCapacity(count)
    for index in range {
      texts.append(contentsOf: resolved.text(index))
      ends.append(texts.count)
    }
    known = Known(readNs: readNs, texts: texts, ends: ends)
  }

  /// Hands out the bindings that were read for a chunk's first batch.
  /// - Returns: nil when it is not for this batch, has not come or is not of this moment.
  func take(for batch: Range<Int>, nowNs: UInt64) -> Known? {
    defer { known = nil }
    guard batch == 0..<count, nowNs &- readNs < WorkerLimits.firstBindingsMsMax * 1_000_000
    else { return nil }
    return known
  }
}

extension FirstBindings.Bounds {
  fileprivate func allow(_ job: PreparedJob) -> Bool {
    job.segments.count == 1 && job.lines == .users && job.deliverAtMs == nil
      && (1...usersMax).contains(job.recipients)
  }
}
