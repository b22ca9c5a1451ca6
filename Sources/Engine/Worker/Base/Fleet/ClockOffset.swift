internal import Model

/// How far a server's clock is from ours, as its answers show.
///
/// An answer was made between the question and its arrival, so it bounds the difference from both sides: the slower
/// the answer the wider. What is known already stands while it is within the bounds; so neither slow answers nor
/// their jitter move it, and a server whose clock was set is followed at once.
struct ClockOffset {
  private(set) var ms: Int64 = 0
  private(set) var isKnown = false

  mutating func learn(serverMs: Int64, sentMs: Int64, receivedMs: Int64) {
    guard (1...Limits.instantMsMax).contains(serverMs), (0...receivedMs).contains(sentMs) else {
      return
    }
    let least = serverMs - receivedMs
    let most = serverMs - sentMs
    ms = isKnown ? min(max(ms, least), most) : least + (most - least) / 2
    isKnown = true
  }
}
