/// Jobs of a destination whose requests may be broken: the network has called one of them malformed, or has closed a
/// connection because of one of many. Their pushes are tried apart from all others until one is answered; loop-bound.
struct Quarantine {
  private struct Entry {
    let job: String
    /// Requests in a row that the network called malformed.
    var refusals: Int
    var notedNs: UInt64
  }

  /// Jobs that are watched at a time; a further one takes the oldest's place.
  static let jobsMax = 64
  /// How long without another complaint until a job, or a push that was tried before, is above suspicion.
  static let lifeNs: UInt64 = 60_000_000_000
  /// Malformed requests of a job in a row, none of it answered, after which nothing more of it is sent.
  static let refusalsMax = 3

  private var entries: [Entry] = []
  /// Until when pushes that were tried before are tried apart.
  private var doubtsUntilNs: UInt64 = 0

  /// Looked at for each push.
  var isEmpty: Bool { entries.isEmpty && doubtsUntilNs == 0 }

  var jobs: Int { entries.count }

  /// Whether a push is to be tried apart.
  /// - Parameter isRepeated: it was sent before.
  func holds(_ job: String, isRepeated: Bool, nowNs: UInt64) -> Bool {
    entries.contains { $0.job == job } || (isRepeated && nowNs < doubtsUntilNs)
  }

  /// Whether the network has refused enough of a job.
  func isCondemned(_ job: String) -> Bool {
    entries.contains { $0.job == job && $0.refusals >= Self.refusalsMax }
  }

  /// Notes that a request of a job was malformed, or, when it is not known which one was, may have been.
  /// - Returns: whether the job was above suspicion before.
  mutating func note(_ job: String, isMalformed: Bool, nowNs: UInt64) -> Bool {
    if !isMalformed { doubtsUntilNs = nowNs &+ Self.lifeNs }
    if let index = entries.firstIndex(where: { $0.job == job }) {
      if isMalformed { entries[index].refusals += 1 }
      entries[index].notedNs = nowNs
      return false
    }
    if entries.count >= Self.jobsMax { entries.removeFirst() }
    entries.append(Entry(job: job, refusals: isMalformed ? 1 : 0, notedNs: nowNs))
    return true
  }

  /// A request of the job was answered.
  mutating func clear(_ job: String) { entries.removeAll { $0.job == job } }

  /// Forgets what is long ago.
  mutating func forget(nowNs: UInt64) {
    entries.removeAll { nowNs &- $0.notedNs >= Self.lifeNs }
    if nowNs >= doubtsUntilNs { doubtsUntilNs = 0 }
  }
}
