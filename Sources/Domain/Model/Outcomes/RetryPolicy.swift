/// When a push that the provider could not take is tried again: exponential back-off with full jitter.
package struct RetryPolicy: Sendable, Equatable {
  /// The consequence of an attempt that asked for a retry.
  package enum Decision: Sendable, Equatable {
    case retry(afterMs: UInt64)
    /// All attempts are used up.
    case giveUp
    /// The next attempt would come after the expiry.
    case expired
  }

  package let attemptsMax: Int
  package let baseMs: UInt64
  package let capMs: UInt64

  package init(
    attemptsMax: Int = Limits.attemptsMax, baseMs: UInt64 = Limits.retryBaseMs,
    capMs: UInt64 = Limits.retryCapMs
  ) {
    self.attemptsMax = attemptsMax
    self.baseMs = baseMs
    self.capMs = capMs
  }

  /// The longest delay after `attempt` (the first is 1): `min(cap, base * 2^(attempt - 1))`.
  package func windowMs(attempt: Int) -> UInt64 {
    let exponent = max(0, attempt - 1)
    guard exponent < 63 else { return capMs }
    let (product, overflow) = baseMs.multipliedReportingOverflow(by: 1 << UInt64(exponent))
    return overflow ? capMs : min(capMs, product)
  }

  /// Milliseconds until the attempt after `attempt`: anything from 0 to the window, drawn with `random`.
  ///
  /// A provider's Retry-After is a floor under the draw, so that those who were told the same second do
  /// not all come back in it.
  package func delayMs(attempt: Int, retryAfterMs: UInt64?, random: UInt64) -> UInt64 {
    floorMs(retryAfterMs) + Self.draw(0...windowMs(attempt: attempt), random)
  }

  /// Decides after `attempt` attempts. A retry is never set at or past the expiry: its jitter is shortened
  /// to what is left.
  package func decide(
    attempt: Int, retryAfterMs: UInt64?, nowMs: Int64, expiresAtMs: Int64?, random: UInt64
  ) -> Decision {
    guard attempt < attemptsMax else { return .giveUp }
    guard let expiresAtMs else {
      return .retry(afterMs: delayMs(attempt: attempt, retryAfterMs: retryAfterMs, random: random))
    }
    let floor = floorMs(retryAfterMs)
    guard expiresAtMs > nowMs else { return .expired }
    let left = UInt64(expiresAtMs - nowMs)
    guard floor < left else { return .expired }
    let window = min(windowMs(attempt: attempt), left - floor - 1)
    return .retry(afterMs: floor + Self.draw(0...window, random))
  }

  private func floorMs(_ retryAfterMs: UInt64?) -> UInt64 {
    min(retryAfterMs ?? 0, Limits.retryAfterMsMax)
  }

  /// Scales `random` to the range: the high half of a 128-bit product has no bias worth naming.
  private static func draw(_ range: ClosedRange<UInt64>, _ random: UInt64) -> UInt64 {
    guard range.upperBound < UInt64.max else { return random }
    return random.multipliedFullWidth(by: range.upperBound + 1).high
  }
}
