/// The pushes of a run in quarantine: they may be what the network calls malformed; loop-bound.
struct QuarantinedPushes {
  /// Since when, in the loop's time, by push.
  private var since: [Int: UInt64] = [:]
  /// Those that are tried apart from others.
  private var apart: Set<Int> = []

  /// Since when a push has been in quarantine; nil when it is not.
  func sinceNs(_ push: Int) -> UInt64? { since.isEmpty ? nil : since[push] }

  func contains(_ push: Int) -> Bool { sinceNs(push) != nil }

  func isApart(_ push: Int) -> Bool { apart.contains(push) }

  mutating func note(_ push: Int, nowNs: UInt64) {
    if since[push] == nil { since[push] = nowNs }
  }

  /// A push is tried apart from others.
  mutating func noteApart(_ push: Int) { apart.insert(push) }
}
