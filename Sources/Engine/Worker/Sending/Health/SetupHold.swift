/// Holds what goes to a destination, all of it or that of one job, while the network refuses every push alike because the app is
/// set up wrongly: another bundle id, a key without this topic, the tokens of another project. Few pushes are lost to that, and
/// the others wait. Times are the loop's.
///
/// The hold begins after a number of such refusals in a row, without an accept between them. Then a few pushes at a time are
/// tried, with pauses that grow; the first accept ends it. A lane has one for each destination, as the breaker is, and one for
/// each job that was refused there.
struct SetupHold {
  /// The consequence of a refusal for its push.
  enum Consequence {
    /// The push is refused for good.
    case counted
    /// The refusal has begun the hold; otherwise like `held`.
    case opened
    /// The push waits, and no attempt is burned.
    case held
  }

  /// Refusals in a row that no token can be to blame for.
  static let refusalsMin = 10
  /// Refusals in a row, counting those that may be of single tokens: as many as make a mass death.
  static let misfitsMin = 50
  /// Pushes that are tried at a time.
  static let probesMax = 2
  static let pauseMsMin: UInt64 = 1_000
  static let pauseMsMax: UInt64 = 30_000
  /// Of a destination. Shorter than a job's: so those that are tried are mostly of jobs that were not refused yet.
  static let sharedPauseMsMax: UInt64 = 8_000
  /// After so long without a refusal nothing waits any more: what waited has ended, or others have taken it.
  static let lifeNs: UInt64 = 600_000_000_000

  /// Whether nothing is counted. Looked at for each accept.
  private(set) var isClean = true
  private(set) var isHolding = false
  /// Whether there were enough refusals that no token can be to blame for.
  private(set) var isSure = false
  /// Until when nothing is tried.
  private(set) var untilNs: UInt64 = 0
  /// The network's word for the last refusal.
  private(set) var reason = ""
  /// When the last refusal came.
  private(set) var refusedNs: UInt64 = 0
  private var refusals = 0
  private var misfits = 0
  private var pauses: UInt64 = 0
  private var probes = 0
  private let pauseMsMax: UInt64

  init(pauseMsMax: UInt64 = Self.pauseMsMax) { self.pauseMsMax = pauseMsMax }

  /// - Parameter isSure: whether no token can be to blame for it.
  mutating func noteRefusal(
    _ reason: String, isSure: Bool, nowNs: UInt64, elapsedNs: UInt64
  ) -> Consequence {
    isClean = false
    self.reason = reason
    refusedNs = nowNs
    refusals += isSure ? 1 : 0
    self.isSure = refusals >= Self.refusalsMin
    if isHolding {
      // What was on its way when the pause began says nothing new.
      if nowNs &- elapsedNs >= untilNs { pause(nowNs) }
      return .held
    }
    misfits += 1
    guard self.isSure || misfits >= Self.misfitsMin else { return .counted }
    isHolding = true
    pause(nowNs)
    return .opened
  }

  /// The network accepted a push.
  /// - Returns: whether that has ended a hold.
  mutating func noteAccept() -> Bool {
    let wasHolding = isHolding
    self = SetupHold(pauseMsMax: pauseMsMax)
    return wasHolding
  }

  /// Whether it holds, and something still waits for its end.
  func isCurrent(nowNs: UInt64) -> Bool { isHolding && nowNs &- refusedNs < Self.lifeNs }

  /// Forgets a hold that nothing waits for any more.
  mutating func forgetOld(nowNs: UInt64) {
    if isHolding, !isCurrent(nowNs: nowNs) { self = SetupHold(pauseMsMax: pauseMsMax) }
  }

  /// How many requests may be sent now.
  func allowance(nowNs: UInt64) -> Int {
    guard isHolding else { return .max }
    return nowNs < untilNs ? 0 : max(0, Self.probesMax - probes)
  }

  /// Requests were sent while it holds.
  mutating func noteProbes(_ count: Int) { probes += count }

  /// A push is tried of which nobody tells how it ended: with the last of those that are tried the next pause begins.
  mutating func noteTry(nowNs: UInt64) {
    guard isHolding else { return }
    probes += 1
    if probes >= Self.probesMax { pause(nowNs) }
  }

  /// A request ended while it holds, however.
  mutating func noteEnd() { probes = max(0, probes - 1) }

  private mutating func pause(_ nowNs: UInt64) {
    let leastMs = min(Self.pauseMsMin << min(pauses, 16), pauseMsMax)
    pauses += 1
    probes = 0
    // Lanes that began together do not try together.
    untilNs = nowNs &+ (leastMs + UInt64.random(in: 0...leastMs / 4)) &* 1_000_000
  }
}
