/// How long a credential is left alone that a network refuses: shortly at first, since a bad moment of the network's looks like
/// a bad key, and longer each time.
struct RefusalBackOff: Sendable {
  private var refusals = 0
  private var endsAtMs: Int64 = 0

  /// Takes note of a refusal.
  /// - Returns: how long to wait before the credential is used again.
  mutating func waitMs(nowMs: Int64) -> Int64 {
    // It was good in between, or the clock was set.
    let isFollowing = abs(nowMs - endsAtMs) <= CredentialLimits.refusalsApartMs
    refusals = isFollowing ? min(refusals + 1, 16) : 0
    let waitMs = min(
      CredentialLimits.refusedPauseMsMin << refusals, CredentialLimits.refusedPauseMsMax)
    endsAtMs = nowMs + waitMs
    return waitMs
  }
}
