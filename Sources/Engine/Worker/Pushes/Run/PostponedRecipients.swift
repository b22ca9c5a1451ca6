/// Recipients of a run all of whose pushes are to be tried later, kept until they can be told together.
///
/// Each settlement that has some makes a chunk of them, which costs Redis as much as a job for one user. A worker that dies
/// meanwhile loses only their delay and number of attempts.
struct PostponedRecipients {
  private var recipients: [Int] = []
  /// Until when the first of them may be kept, in the loop's time.
  private var untilNs = UInt64.max

  var count: Int { recipients.count }

  /// Keeps a recipient, at most for half the delay that it is to have from then on.
  /// - Returns: false when that is too short to be worth it.
  mutating func add(_ recipient: Int, delayMs: UInt64, nowNs: UInt64) -> Bool {
    let keptMs = min(delayMs / 2, WorkerLimits.postponedMsMax)
    guard keptMs >= WorkerLimits.checkpointMs else { return false }
    recipients.append(recipient)
    untilNs = min(untilNs, nowNs &+ keptMs &* 1_000_000)
    return true
  }

  /// Whether one of them has been kept as long as it may.
  func isOver(nowNs: UInt64) -> Bool { nowNs >= untilNs }

  mutating func takeAll() -> [Int] {
    defer { self = PostponedRecipients() }
    return recipients
  }
}
