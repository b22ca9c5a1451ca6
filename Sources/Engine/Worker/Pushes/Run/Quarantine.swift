/// Jobs of a destination whose requests may be broken: the network has called some of them malformed, or has closed a
/// connection because of one of many. When several in a row were, or a connection was closed, the job's pushes are
/// tried apart from all others until one is answered; loop-bound.
struct Quarantine {
  private struct Entry {
    let job: String
    /// Requests in a row that the network called malformed among others.
    var complaints = 0
    /// Whether its pushes are tried apart.
    var isHeld = false
    /// Requests in a row that the network called malformed although they were tried apart.
    var refusals = Refusals()
    let sinceNs: UInt64
    var notedNs: UInt64
  }

  /// The way in which the network complained of a request.
  enum Complaint: Equatable {
    /// The network closed a connection because of one of many, and this was among them.
    case accusedWithOthers
    /// The network called this one malformed, among others that may have had the same fate.
    case accused
    /// The network called this one malformed, which was tried apart.
    case refusedApart(trial: Int)
    /// The network closed a connection because of this one, which was tried apart on it.
    case closedApart(trial: Int)

    /// How many requests that were refused apart it counts as.
    var refusals: Int {
      switch self {
      case .accusedWithOthers, .accused: 0
      case .refusedApart: 1
      case .closedApart: Quarantine.closingWeight
      }
    }

    /// The trial that it was part of (`ApartPushes.trial`); nil when it was tried among others.
    var trial: Int? {
      switch self {
      case .accusedWithOthers, .accused: nil
      case .refusedApart(let trial), .closedApart(let trial): trial
      }
    }
  }

  /// Refusals apart. One of each trial counts: a connection on which nothing is good may itself be what is bad.
  struct Refusals {
    private(set) var count = 0
    private var trial: Int?

    mutating func note(_ complaint: Complaint) {
      guard let trial = complaint.trial, trial != self.trial else { return }
      self.trial = trial
      count += complaint.refusals
    }
  }

  /// Jobs that are watched at a time; a further one takes the oldest's place.
  static let jobsMax = 64
  /// Requests of a job, or sendings of a push, in a row that were malformed among others, after which it is tried apart: a server
  /// that resets one stream in a hundred resets no three in a row of the same job.
  static let complaintsMin = 3
  /// How long without another complaint until a job, or a push that was tried before, is out of quarantine.
  static let lifeNs: UInt64 = 60_000_000_000
  /// Requests of a job in a row that were malformed apart from all others, none of it answered, after which nothing more of
  /// it is sent; and sendings apart of one push after which it is rejected. Each is of another trial.
  static let refusalsMax = 5
  /// How many refusals a closed connection counts as: by chance that happens far less often, and each takes seconds to be opened
  /// again.
  static let closingWeight = 2

  private var entries: [Entry] = []
  /// Until when pushes that were tried before are tried apart.
  private var repeatedUntilNs: UInt64 = 0

  /// Looked at for each push.
  var isEmpty: Bool { entries.isEmpty && repeatedUntilNs == 0 }

  var jobs: Int { entries.count }

  /// Whether a push is to be tried apart.
  /// - Parameter isRepeated: it was sent before.
  func holds(_ job: String, isRepeated: Bool, nowNs: UInt64) -> Bool {
    entries.contains { $0.isHeld && $0.job == job } || (isRepeated && nowNs < repeatedUntilNs)
  }

  /// Since when the network has complained of a job, without an answer to any request of it.
  func sinceNs(_ job: String) -> UInt64? { entries.first { $0.job == job }?.sinceNs }

  /// Whether the network has refused enough of a job while it answered others.
  /// - Parameter answeredNs: when it last answered anything. An answer to the job itself would have cleared it.
  func isCondemned(_ job: String, answeredNs: UInt64?) -> Bool {
    guard let answeredNs else { return false }
    return entries.contains {
      $0.job == job && $0.refusals.count >= Self.refusalsMax && answeredNs > $0.sinceNs
    }
  }

  /// Notes what the network did to a request of a job.
  /// - Returns: whether the job is to be tried apart from now on.
  mutating func note(_ job: String, _ complaint: Complaint, nowNs: UInt64) -> Bool {
    if complaint == .accusedWithOthers { repeatedUntilNs = nowNs &+ Self.lifeNs }
    let index = entries.firstIndex { $0.job == job } ?? add(job, nowNs)
    entries[index].notedNs = nowNs
    switch complaint {
    case .accusedWithOthers: return hold(index)
    // Of a push that alone is suspected: its job's others go on.
    case .refusedApart, .closedApart: entries[index].refusals.note(complaint)
    case .accused:
      entries[index].complaints += 1
      return entries[index].complaints >= Self.complaintsMin && hold(index)
    }
    return false
  }

  /// - Returns: whether it was not held before.
  private mutating func hold(_ index: Int) -> Bool {
    defer { entries[index].isHeld = true }
    return !entries[index].isHeld
  }

  private mutating func add(_ job: String, _ nowNs: UInt64) -> Int {
    if entries.count >= Self.jobsMax { entries.removeFirst() }
    entries.append(Entry(job: job, sinceNs: nowNs, notedNs: nowNs))
    return entries.count - 1
  }

  /// A request of the job was answered.
  mutating func clear(_ job: String) { entries.removeAll { $0.job == job } }

  /// Forgets what is long ago.
  mutating func forget(nowNs: UInt64) {
    entries.removeAll { nowNs &- $0.notedNs >= Self.lifeNs }
    if nowNs >= repeatedUntilNs { repeatedUntilNs = 0 }
  }
}
