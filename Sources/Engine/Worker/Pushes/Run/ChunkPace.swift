/// The pushes that a run may resolve of a job that keeps to a pace: what was drawn of it and is not used yet.
struct ChunkPace {
  /// Pushes. Below 0 when a user had more devices than were drawn for: these are drawn before anything else is resolved.
  private(set) var allowance = 0
  /// When asking for more is worth it, in the loop's time.
  private var askAtNs: UInt64 = 0

  /// Whether there is something to resolve with.
  var allows: Bool { allowance > 0 }

  /// So many pushes were made.
  mutating func spend(_ pushes: Int) { allowance -= pushes }

  mutating func grant(_ count: Int, retryMs: UInt64, nowNs: UInt64) {
    allowance += count
    askAtNs = nowNs &+ retryMs &* 1_000_000
  }

  /// How long to wait until asking for more is worth it, in ms; 0 for not at all.
  func waitMs(nowNs: UInt64) -> UInt64 { nowNs < askAtNs ? (askAtNs - nowNs) / 1_000_000 + 1 : 0 }
}
