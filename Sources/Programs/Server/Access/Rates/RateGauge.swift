internal import Synchronization

/// Token buckets, one for each caller. Past `callersMax` of them, new callers share one bucket of their plan.
final class RateGauge: Sendable {
  private struct Caller: Hashable {
    let plan: String
    /// Nil for all who have no bucket of their own.
    let name: String?
  }

  private struct Bucket {
    var tokens: Double
    var atMs: UInt64

    mutating func refill(_ plan: RatePlan, _ nowMs: UInt64) {
      if nowMs > atMs {
        tokens = min(plan.burst, tokens + Double(nowMs - atMs) / 1_000 * plan.perSecond)
      }
      atMs = max(atMs, nowMs)
    }
  }

  private struct State {
    var buckets: [Caller: Bucket] = [:]
    var sweptAtMs: UInt64 = 0
  }

  /// The longest until any bucket is full again, which is as good as none: it may be dropped.
  private static let keptMs: UInt64 = 60_000
  private static let sweepMs: UInt64 = 1_000

  private let state = Mutex(State())
  private let callersMax: Int

  init(callersMax: Int = ServerLimits.ratedCallersMax) { self.callersMax = callersMax }

  /// Takes a token.
  /// - Returns: nil, or after how many seconds there is one.
  func take(_ plan: RatePlan, of name: String, nowMs: UInt64) -> Int? {
    state.withLock { state in
      let caller = Self.caller(plan, name, &state, max: callersMax, nowMs)
      var bucket = state.buckets[caller] ?? Bucket(tokens: plan.burst, atMs: nowMs)
      bucket.refill(plan, nowMs)
      let isGranted = bucket.tokens >= 1
      if isGranted { bucket.tokens -= 1 }
      state.buckets[caller] = bucket
      return isGranted ? nil : Self.wait(bucket, plan)
    }
  }

  /// Looks whether there is a token, and takes none.
  /// - Returns: as `take`.
  func look(_ plan: RatePlan, of name: String, nowMs: UInt64) -> Int? {
    state.withLock { state in
      let caller = Self.caller(plan, name, &state, max: callersMax, nowMs)
      guard var bucket = state.buckets[caller] else { return nil }
      bucket.refill(plan, nowMs)
      return bucket.tokens >= 1 ? nil : Self.wait(bucket, plan)
    }
  }

  private static func wait(_ bucket: Bucket, _ plan: RatePlan) -> Int {
    max(1, Int(((1 - bucket.tokens) / plan.perSecond).rounded(.up)))
  }

  private static func caller(
    _ plan: RatePlan, _ name: String, _ state: inout State, max: Int, _ nowMs: UInt64
  ) -> Caller {
    let caller = Caller(plan: plan.name, name: name)
    guard state.buckets.count >= max, state.buckets[caller] == nil else { return caller }
    if nowMs >= state.sweptAtMs + sweepMs {
      state.sweptAtMs = nowMs
      state.buckets = state.buckets.filter { nowMs < $0.value.atMs + keptMs }
    }
    return state.buckets.count < max ? caller : Caller(plan: plan.name, name: nil)
  }
}
