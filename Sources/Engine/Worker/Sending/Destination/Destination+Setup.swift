internal import HTTP2
internal import Reactor

// Whether the network accepts pushes of the app as that is set up. Only this file writes what is known of it, but for the
// requests that are tried.
extension Destination {
  /// The network accepted a push.
  func noteAccept() {
    let wasProven = isProven
    isProven = true
    guard !wasProven || !setup.isClean else { return }
    let wasHolding = setup.noteAccept()
    if wasHolding { journal.noteReleased() }
    if wasHolding || !wasProven { wake() }
  }

  /// The network refused a push because of how the app is set up.
  /// - Parameter isSure: whether no token can be to blame for it.
  /// - Returns: whether the push waits, and that is no attempt of it.
  func noteRefusal(_ reason: String, isSure: Bool, elapsedNs: UInt64) -> Bool {
    // Not more: some networks say it of single tokens, and connections on which others are accepted are well.
    if isSure { sign = .trouble }
    // Where some are accepted, what may be of single tokens is: the last of a job may all be of that kind.
    guard isSure || !isProven || setup.isHolding else { return false }
    let wasUntilNs = setup.untilNs
    let consequence = setup.noteRefusal(
      reason, isSure: isSure, nowNs: loop.nowNs, elapsedNs: elapsedNs)
    if consequence == .opened { journal.noteHeld(because: reason) }
    if setup.untilNs != wasUntilNs, let pauseMs, queued > 0 { park(forMs: pauseMs) }
    return consequence != .counted
  }

  /// How many requests a destination may send beyond those in flight, for its network's sake.
  func allowance(beside inFlight: Int) -> Int {
    // What the network thinks of the app is to be known before much is sent.
    let untried = isProven || batches != nil ? Int.max : WorkerLimits.untriedRequestsMax - inFlight
    return max(0, min(untried, setup.allowance(nowNs: loop.nowNs)))
  }
}
