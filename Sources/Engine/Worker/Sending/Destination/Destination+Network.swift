internal import HTTP2
internal import Model
internal import Reactor

// The network, of which each answer is told by whoever judges it.
extension Destination {
  /// Something was answered that is no trouble of the network's.
  func noteGood(elapsedNs: UInt64) {
    reports.sign = .good
    if health.noteGood(nowNs: loop.nowNs, elapsedNs: elapsedNs) {
      endTrouble()
      wake()
    } else if health.breaker.state == .halfOpen {
      wake()
    }
  }

  /// The network is in trouble, or did not answer.
  /// - Parameter attempt: of the push that it met with, from 1; 0 where that says nothing.
  /// - Returns: what that means for the push.
  func noteTrouble(
    elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int = 0, reason: @autoclosure () -> String
  ) -> Breaker.Consequence {
    reports.sign = .trouble
    let wasOpen = health.breaker.state == .open
    let consequence = health.noteTrouble(
      nowNs: loop.nowNs, elapsedNs: elapsedNs, retryAfterMs: retryAfterMs, attempt: attempt,
      streams: transport.streamsAllowed, reason: reason)
    if consequence == .opened, let reason = health.troubleReason {
      journal.noteOpened(because: reason)
    }
    if !wasOpen, health.breaker.state == .open, let pauseMs, queued > 0 { park(forMs: pauseMs) }
    return consequence
  }

  /// Somebody else answered in the network's place: trouble of what stands before it. While nothing of the network's own
  /// comes, that is no attempt of the push.
  func noteForeign(elapsedNs: UInt64, reason: String) -> Breaker.Consequence {
    let wasUnbroken = health.noteForeign(reason, nowNs: loop.nowNs)
    let consequence = noteTrouble(elapsedNs: elapsedNs, retryAfterMs: nil, reason: reason)
    return consequence == .counted && wasUnbroken ? .forgiven : consequence
  }

  /// `Breaker.noteDecline`.
  func noteDecline() -> Bool { health.noteDecline() }

  /// A request ended that says nothing of the network: as a probe it makes room for another.
  func noteNothing(elapsedNs: UInt64) {
    health.noteNothing(nowNs: loop.nowNs, elapsedNs: elapsedNs)
    if health.breaker.state == .halfOpen { wake() }
  }

  /// The network has refused a push because there were too many of them. An app's own rate stays: its owner wants it.
  func noteOverRate(elapsedNs: UInt64) {
    limits.last { !$0.limit.isOfApp }?.noteRefused(sentNs: loop.nowNs &- elapsedNs)
  }

  // MARK: How the app is set up

  /// The network accepted a push.
  func noteAccept() {
    switch health.noteAccept() {
    case .none: return
    case .first: break
    case .released: journal.noteReleased()
    }
    wake()
  }

  /// The network refused a push because of how the app is set up.
  /// - Parameter isSure: whether no token can be to blame for it.
  /// - Returns: whether the push waits, and that is no attempt of it.
  func noteRefusal(_ reason: String, isSure: Bool, elapsedNs: UInt64) -> Bool {
    // Not more: some networks say it of single tokens, and connections on which others are accepted are well.
    if isSure { reports.sign = .trouble }
    let wasUntilNs = health.setup.untilNs
    let consequence = health.noteRefusal(
      reason, isSure: isSure, nowNs: loop.nowNs, elapsedNs: elapsedNs)
    if consequence == .opened { journal.noteHeld(because: reason) }
    if health.setup.untilNs != wasUntilNs, let pauseMs, queued > 0 { park(forMs: pauseMs) }
    return consequence != .counted
  }

  /// The network refused a push of a job because of how the app is set up.
  func noteRefusal(
    of job: String, _ reason: String, isSure: Bool, elapsedNs: UInt64
  ) -> SetupHold.Consequence {
    health.noteRefusal(
      of: job, reason, isSure: isSure, nowNs: loop.nowNs, elapsedNs: elapsedNs)
  }

  /// The network took a push of a job, or knew its token.
  func noteAccept(of job: @autoclosure () -> String) {
    if !health.jobHolds.isClean { health.noteAccept(of: job()) }
  }

  /// For how long the pushes of a job wait that was refused because of how the app is set up; nil when one may be sent.
  func heldMs(_ job: @autoclosure () -> String) -> UInt64? {
    guard !health.jobHolds.isClean else { return nil }
    return health.jobHolds.heldMs(job(), isProven: health.isProven, nowNs: loop.nowNs)
  }

  /// Pushes of a job were sent: a few are tried of one that was refused.
  func noteSent(ofJob job: @autoclosure () -> String) {
    if !health.jobHolds.isClean { health.noteSent(ofJob: job(), nowNs: loop.nowNs) }
  }
}
