internal import Synchronization

/// Token buckets, one for each caller of a plan. Each plan has a table of its own, so that the callers of one cannot take the
/// room of another's.
final class RateGauge: Sendable {
  private struct Bucket {
    var tokens: Double
    var atMs: UInt64

    init(full plan: RatePlan, _ nowMs: UInt64) {
      tokens = plan.burst
      atMs = nowMs
    }

    mutating func refill(_ plan: RatePlan, _ nowMs: UInt64) {
      if nowMs > atMs {
        tokens = min(plan.burst, tokens + Double(nowMs - atMs) / 1_000 * plan.perSecond)
      }
      atMs = max(atMs, nowMs)
    }

    /// A full bucket is as good as none.
    func isFull(_ plan: RatePlan, _ nowMs: UInt64) -> Bool {
      var bucket = self
      bucket.refill(plan, nowMs)
      return bucket.tokens >= plan.burst
    }
  }

  private struct Table {
    var buckets: [String: Bucket] = [:]
    /// The bucket of all who have none of their own, where the plan says that they share one.
    var shared: Bucket?
    var sweptAtMs: UInt64?
  }

  /// The place of a caller's bucket.
  private enum Place {
    case own, shared
    /// No place: the caller is not counted.
    case nowhere
  }

  /// How often a full table is searched for buckets that are full again.
  private static let sweepMs: UInt64 = 1_000

  /// By the names of the plans.
  private let tables = Mutex<[String: Table]>([:])
  private let callersMax: Int

  /// - Parameter callersMax: the callers of one plan whose rates are kept apart.
  init(callersMax: Int = ServerLimits.ratedCallersMax) { self.callersMax = callersMax }

  /// Takes a token.
  /// - Returns: nil, or after how many seconds there is one.
  func take(_ plan: RatePlan, of name: String, nowMs: UInt64) -> Int? {
    count(plan, name, nowMs, takes: true)
  }

  /// Looks whether there is a token, and takes none.
  /// - Returns: as `take`.
  func look(_ plan: RatePlan, of name: String, nowMs: UInt64) -> Int? {
    count(plan, name, nowMs, takes: false)
  }

  private func count(_ plan: RatePlan, _ name: String, _ nowMs: UInt64, takes: Bool) -> Int? {
    tables.withLock { tables in
      let place = Self.place(plan, name, &tables[plan.name, default: Table()], callersMax, nowMs)
      switch place {
      case .own:
        return Self.count(
          plan, &tables[plan.name, default: Table()].buckets[name], nowMs, takes: takes)
      case .shared:
        return Self.count(
          plan, &tables[plan.name, default: Table()].shared, nowMs, takes: takes)
      case .nowhere: return nil
      }
    }
  }

  private static func count(
    _ plan: RatePlan, _ place: inout Bucket?, _ nowMs: UInt64, takes: Bool
  ) -> Int? {
    // A look makes no bucket.
    guard takes || place != nil else { return nil }
    var bucket = place ?? Bucket(full: plan, nowMs)
    bucket.refill(plan, nowMs)
    let isGranted = bucket.tokens >= 1
    if isGranted, takes { bucket.tokens -= 1 }
    place = bucket
    return isGranted ? nil : max(1, Int(((1 - bucket.tokens) / plan.perSecond).rounded(.up)))
  }

  private static func place(
    _ plan: RatePlan, _ name: String, _ table: inout Table, _ max: Int, _ nowMs: UInt64
  ) -> Place {
    guard table.buckets.count >= max, table.buckets[name] == nil else { return .own }
    if table.sweptAtMs.map({ nowMs >= $0 + sweepMs }) ?? true {
      table.sweptAtMs = nowMs
      table.buckets = table.buckets.filter { !$0.value.isFull(plan, nowMs) }
    }
    guard table.buckets.count >= max else { return .own }
    return plan.isShared ? .shared : .nowhere
  }
}
