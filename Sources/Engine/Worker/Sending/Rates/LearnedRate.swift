/// How much of a rate a network takes, as what it refuses teaches: multiplicative decrease, and an increase that is the faster
/// the longer nothing was refused. Times are the loop's.
///
/// Each lane learns for itself what the whole fleet may send, and draws it from the fleet's bucket. Lanes and workers meet with
/// the same share of refusals, so they come to nearly the same figure, and the bucket brings in what they believe on
/// average: nothing more is to be agreed upon, and a worker that does not learn harms only in proportion.
struct LearnedRate {
  /// The share of refusals that lowers it; less is the price of trying.
  static let refusedShareMin = 0.02
  /// The factor to which it is lowered, beside what was taken.
  static let loweredTo = 0.95
  /// For how long refusals are counted before they are judged, and of how many pushes at least.
  static let lookNs: UInt64 = 250_000_000
  static let lookPushesMin = 16
  /// How many refusals, and what share of them, are judged at once.
  static let refusedMany = 32
  static let refusedShareMany = 0.5
  /// After so long a look begins anew: what was sent before is not what was refused.
  static let lookNsMax: UInt64 = 1_000_000_000
  /// For how long pushes that were drawn before it was lowered are still being sent; their refusals say nothing.
  static let settleNs: UInt64 = 100_000_000
  /// The increase after t seconds, beside what it was lowered to: steady at first, so that most of the time is spent just below what
  /// is taken, and fast when the network takes more for good (as CUBIC's, RFC 9438).
  static func growth(_ seconds: Double) -> Double {
    0.01 * seconds + 0.0005 * seconds * seconds * seconds
  }
  /// The least that it is lowered to, beside the whole: pushes that are refused then are probes.
  static let leastShare = 0.001
  static let leastPerSecond = 10.0

  private let full: Double
  private let least: Double
  private var lowered: Double
  /// nil while it never was.
  private var loweredNs: UInt64?
  private var lookFromNs: UInt64 = 0
  private var sent = 0
  private var refused = 0

  /// - Parameter full: what may be sent a second when nothing is refused.
  init(full: Double) {
    self.full = full
    least = min(full, max(Self.leastPerSecond, full * Self.leastShare))
    lowered = full
  }

  /// Returns how many pushes may be sent a second.
  func perSecond(nowNs: UInt64) -> Double {
    guard let loweredNs else { return full }
    let seconds = Double(nowNs &- loweredNs) / 1_000_000_000
    // From far below it comes back as fast as the whole allows.
    let step = max(lowered, full / 50)
    return min(full, lowered + step * Self.growth(seconds))
  }

  mutating func noteSent(_ count: Int, nowNs: UInt64) {
    if nowNs >= lookFromNs { sent &+= count }
  }

  /// A push was refused that was sent then.
  /// - Returns: whether that has lowered it.
  mutating func noteRefused(sentNs: UInt64, nowNs: UInt64) -> Bool {
    guard sentNs >= lookFromNs else { return false }
    guard nowNs &- lookFromNs < Self.lookNsMax else {
      look(fromNs: nowNs)
      refused = 1
      return false
    }
    refused += 1
    let share = min(1, Double(refused) / Double(max(1, sent)))
    guard
      nowNs &- lookFromNs >= Self.lookNs && sent >= Self.lookPushesMin
        || refused >= Self.refusedMany && share >= Self.refusedShareMany
    else { return false }
    guard share >= Self.refusedShareMin else {
      look(fromNs: nowNs)
      return false
    }
    lowered = max(least, perSecond(nowNs: nowNs) * (1 - share) * Self.loweredTo)
    loweredNs = nowNs
    look(fromNs: nowNs &+ Self.settleNs)
    return true
  }

  private mutating func look(fromNs: UInt64) {
    lookFromNs = fromNs
    sent = 0
    refused = 0
  }
}
