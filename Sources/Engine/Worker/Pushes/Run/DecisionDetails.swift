internal import Model

/// The details that decisions about a run's pushes have beyond their kind, by push, until they are told.
struct DecisionDetails {
  /// When a push is tried later, in ms from when it is told, and how many attempts it has had.
  struct Delay {
    let delayMs: UInt64
    let attempt: Int
    /// Whether it does not wait for others to come back with.
    let isHurried: Bool
  }

  private var delays: [Int: Delay] = [:]
  private var jitters = RetryJitter()
  /// Which credentials pushes wait for that this worker does not have, and the attempts that they had.
  private var missing: [Int: (environment: PushEnvironment, attempt: Int)] = [:]
  private var verdicts: [Int: (reason: String, sinceMs: Int64?)] = [:]
  /// Pushes whose verdict may be our mistake: settled only when it is known how many there are.
  private var doubtful: Set<Int> = []

  // MARK: Decided

  /// A push is to be tried later.
  mutating func delay(_ push: Int, ms delayMs: UInt64, attempt: Int, isHurried: Bool) {
    // In quarters of a second, so that what fails together comes back as one residual chunk.
    delays[push] = Delay(
      delayMs: (delayMs + 249) / 250 * 250, attempt: attempt, isHurried: isHurried)
  }

  /// A push waits for a worker with credentials for this environment.
  /// - Parameter attempt: how many it has had.
  mutating func leave(_ push: Int, for environment: PushEnvironment, attempt: Int) {
    missing[push] = (environment, attempt)
  }

  /// Notes that the network called a push's token invalid.
  mutating func invalidate(_ push: Int, reason: String, sinceMs: Int64?, isDoubtful: Bool) {
    verdicts[push] = (reason, sinceMs)
    if isDoubtful { doubtful.insert(push) }
  }

  /// The random part of the run's retries of an attempt.
  mutating func jitter(attempt: Int) -> UInt64 { jitters.value(attempt: attempt) }

  // MARK: Asked

  /// Nil for a push that is not tried later.
  func delay(of push: Int) -> Delay? { delays[push] }

  func isDoubtful(_ push: Int) -> Bool { doubtful.contains(push) }

  /// How many of these have a doubtful verdict.
  func doubts(among pushes: Range<Int>) -> Int {
    doubtful.isEmpty ? 0 : pushes.count { doubtful.contains($0) }
  }

  // MARK: Told

  /// Puts a push's decision where the store is told of it.
  mutating func tell(_ index: Int, _ push: Push, to news: inout ChunkNews) {
    switch push.decision {
    case .later:
      let delay = delays.removeValue(forKey: index)
      news.retry(
        push, delayMs: delay?.delayMs ?? 0, joins: !(delay?.isHurried ?? true),
        attempt: delay?.attempt ?? Int(push.attempt) - 1)
    case .unrouted:
      let wanted = missing.removeValue(forKey: index) ?? (push.environment, Int(push.attempt) - 1)
      news.leave(push, for: wanted.environment, attempt: wanted.attempt)
    case .invalid:
      let verdict = verdicts.removeValue(forKey: index)
      news.invalidate(push, reason: verdict?.reason ?? "", sinceMs: verdict?.sinceMs)
    default: news.count(push)
    }
  }
}
