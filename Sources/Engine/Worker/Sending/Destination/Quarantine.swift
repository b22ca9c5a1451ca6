/// Jobs of a destination whose requests may be broken: the network has called one of them malformed, or has closed a
/// connection because of one of many. Their pushes are tried apart from all others until one is answered; loop-bound.
struct Quarantine {
  private struct Entry {
    let job: String
    /// Requests in a row that the network called malformed although they were tried apart.
    var refusals: Int
    let sinceNs: UInt64
    var notedNs: UInt64
  }

  /// What the network did to a request.
  enum Complaint {
    /// It closed a connection because of one of many, and this was among them.
    case accusedWithOthers
    /// It called this one malformed, among others that may have had the same fate.
    case accused
    /// It called this one malformed, which was tried apart.
    case refusedApart
  }

  /// Jobs that are watched at a time; a further one takes the oldest's place.
  static let jobsMax = 64
  /// How long without another complaint until a job, or a push that was tried before, is out of quarantine.
  static let lifeNs: UInt64 = 60_000_000_000
  /// Requests of a job in a row that were malformed apart from all others, none of it answered, after which nothing more of
  /// it is sent.
  static let refusalsMax = 3

  private var entries: [Entry] = []
  /// Until when pushes that were tried before are tried apart.
  private var repeatedUntilNs: UInt64 = 0

  /// Looked at for each push.
  var isEmpty: Bool { entries.isEmpty && repeatedUntilNs == 0 }

  var jobs: Int { entries.count }

  /// Whether a push is to be tried apart.
  /// - Parameter isRepeated: it was sent before.
  func holds(_ job: String, isRepeated: Bool, nowNs: UInt64) -> Bool {
    entries.contains { $0.job == job } || (isRepeated && nowNs < repeatedUntilNs)
  }

  /// Since when a job has been in quarantine, without an answer to any request of it.
  func sinceNs(_ job: String) -> UInt64? { entries.first { $0.job == job }?.sinceNs }

  /// Whether the network has refused enough of a job while it answered others.
  /// - Parameter answeredNs: when it last answered anything. An answer to the job itself would have cleared it.
  func isCondemned(_ job: String, answeredNs: UInt64?) -> Bool {
    guard let answeredNs else { return false }
    return entries.contains {
      $0.job == job && $0.refusals >= Self.refusalsMax && answeredNs > $0.sinceNs
    }
  }

  /// Notes what the network did to a request of a job.
  /// - Returns: whether the job is new in quarantine.
  mutating func note(_ job: String, _ complaint: Complaint, nowNs: UInt64) -> Bool {
    if complaint == .accusedWithOthers { repeatedUntilNs = nowNs &+ Self.lifeNs }
    let refusals = complaint == .refusedApart ? 1 : 0
    if let index = entries.firstIndex(where: { $0.job == job }) {
      entries[index].refusals += refusals
      entries[index].notedNs = nowNs
      return false
    }
    if entries.count >= Self.jobsMax { entries.removeFirst() }
    entries.append(Entry(job: job, refusals: refusals, sinceNs: nowNs, notedNs: nowNs))
    return true
  }

  /// A request of the job was answered.
  mutating func clear(_ job: String) { entries.removeAll { $0.job == job } }

  /// Forgets what is long ago.
  mutating func forget(nowNs: UInt64) {
    entries.removeAll { nowNs &- $0.notedNs >= Self.lifeNs }
    if nowNs >= repeatedUntilNs { repeatedUntilNs = 0 }
  }
}
