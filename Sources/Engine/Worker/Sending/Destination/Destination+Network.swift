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

  /// The network refused a job that is held for itself, because of how the app is set up.
  /// - Parameter isNew: whether it was not held before.
  func noteHeld(job: String, because reason: String, isNew: Bool) {
    health.noteHeld(job: job, because: reason, nowNs: loop.nowNs)
    if isNew { journal.noteHeld(job: job, because: reason) }
  }

  /// The network accepted a push of a job that it had refused.
  func noteAccept(ofJob job: String) { health.noteAccept(ofJob: job) }

  /// For how long a push of a job waits that was refused because of how the app is set up; nil when it may be sent.
  func heldMs(_ holds: JobHolds) -> UInt64? {
    guard !holds.isClean else { return nil }
    return holds.heldMs(at: number, isProven: health.isProven, nowNs: loop.nowNs)
  }

  /// A push of a job is sent that does not wait, though others were refused.
  func noteSent(_ holds: inout JobHolds) { holds.noteSent(at: number, nowNs: loop.nowNs) }
}
