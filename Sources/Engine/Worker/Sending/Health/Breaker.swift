/// Stops sending to a destination while nothing gets through to it: its answers are 5xx, or none.
///
/// Requests that left together are answered together, and those that are refused may come first, or last. So the answers of
/// one moment say little, however many they are. Closed, it opens when trouble meets requests that were sent after anything
/// good was heard, and again those that were sent after that; or when hardly anything is good for longer than all that is in
/// flight takes. Meanwhile fewer requests are in flight, in proportion as they are trouble. Open, nothing is sent until the
/// pause is over; then, half-open, a few probes at a time are let through, until it is known whether some of them get
/// through. It closes by degrees: as many more requests are in flight as are answered well. One per destination and lane: no
/// state that is shared can be wrong.
struct Breaker {
  enum State {
    case closed, open, halfOpen
  }

  /// The consequence of an answer of trouble for its push.
  enum Consequence {
    /// An attempt like any other.
    case counted
    /// The breaker was opened by it; otherwise like `forgiven`.
    case opened
    /// No attempt is burned: the request was under way when the breaker opened, was a probe, or one of many that meet with
    /// trouble.
    case forgiven
  }

  private(set) var state = State.closed
  /// Until when nothing is sent, in the loop's time; 0 unless open.
  private(set) var openUntilNs: UInt64 = 0
  /// When it opened first, in the loop's time, however often it has been half-open since.
  private(set) var openedNs: UInt64 = 0
  /// Openings since it was closed last.
  private var openings: UInt64 = 0
  /// When it was closed last, in the loop's time; 0 for never.
  private var closedNs: UInt64 = 0
  private var window = AnswerWindow()
  private var evidence = TroubleEvidence()
  private var probes = ProbeRound()
  /// How many requests could be in flight, as far as it was told.
  private var streams = 0
  /// The shortest Retry-After of the trouble since something was good; nil when there was none, 0 when one had none.
  private var leastAskedMs: UInt64?
  /// How many requests may be in flight since it has closed; `Int.max` when that is over.
  private var ramp = Int.max
  /// The part of an attempt that trouble has come to which was no whole one yet.
  private var owed = 0.0

  /// Notes an answer that is no trouble, whatever it says of its push.
  /// - Returns: whether it has closed the breaker.
  mutating func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    guard state == .closed else { return noteGoodProbe(nowNs, elapsedNs) }
    if window.isBucketOver(nowNs: nowNs) { turn(nowNs) }
    window.noteGood()
    if evidence.noteGood(nowNs: nowNs) { leastAskedMs = nil }
    if ramp < .max { ramp = ramp < BreakerLimits.rampMax ? ramp &+ BreakerLimits.rampStep : .max }
    return false
  }

  /// Notes trouble, or an answer that did not come.
  /// - Parameter attempt: of the push that met with it, from 1; 0 where that says nothing.
  mutating func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int = 0
  ) -> Consequence {
    switch state {
    case .closed:
      guard probes.isCurrent(nowNs: nowNs, elapsedNs: elapsedNs) else { return .forgiven }
      if window.isBucketOver(nowNs: nowNs) { turn(nowNs) }
      window.noteTrouble()
      noteAsked(retryAfterMs)
      let isSeldom = window.trouble < BreakerLimits.firstTroublesMin
      let isEvidence = evidence.weigh(
        nowNs: nowNs, elapsedNs: elapsedNs, closedNs: closedNs, streams: streams)
      let isKnown = isEvidence && !isSeldom
      guard
        isKnown || attempt >= BreakerLimits.attemptMin && evidence.isQuiet(nowNs: nowNs)
      else {
        let isOutage = evidence.inRow > BreakerLimits.attemptsBurnedMax && !isSeldom
        return !isOutage && isAttempt() ? .counted : .forgiven
      }
      // How long one push is to stay away is no plan of the network's.
      if !isKnown { leastAskedMs = nil }
      open(nowNs)
      return .opened
    case .open: break
    case .halfOpen:
      guard probes.isCurrent(nowNs: nowNs, elapsedNs: elapsedNs) else { break }
      noteAsked(retryAfterMs)
      if probes.noteTrouble() { open(nowNs) }
      // Others have got through since: it is this push's affair.
      if attempt >= BreakerLimits.attemptMin, evidence.goodNs >= openedNs { return .counted }
    }
    return .forgiven
  }

  /// Whether trouble now is an attempt of its push. Where much of what is sent meets with it, it is the network's: of the attempts
  /// as much counts as the square of what gets through. A push that meets with trouble at random is so given up once in
  /// 100,000 times at most, and one that alone is never taken is given up in the end.
  private mutating func isAttempt() -> Bool {
    guard let good = window.shareGettingThrough else { return true }
    owed += good * good
    guard owed >= 1 else { return false }
    owed -= 1
    return true
  }

  /// An answer that was noted as good asks its push alone to come later.
  /// - Returns: whether that is an attempt of the push: while the network is in trouble, not each time.
  mutating func noteDecline() -> Bool {
    window.noteDecline()
    return isAttempt()
  }

  /// A Retry-After is its push's. How long nothing is sent at all is what the least of them asks for.
  private mutating func noteAsked(_ retryAfterMs: UInt64?) {
    let askedMs = min(retryAfterMs ?? 0, BreakerLimits.retryAfterMsMax)
    leastAskedMs = min(leastAskedMs ?? askedMs, askedMs)
  }

  /// Whether fewer requests may be in flight than the transport has room for: it is asked how many, then.
  var isSlowing: Bool { window.trouble > 0 || ramp < .max }

  /// How many requests may be in flight where so many could be.
  mutating func requestsMax(of streams: Int) -> Int {
    self.streams = streams
    guard state == .closed else { return streams }
    return min(ramp, max(1, Int((Double(streams) * min(1, window.usableShare)).rounded())))
  }

  /// Notes how many requests could be in flight: of so many that were sent before the latest good answer all may be trouble,
  /// and that says nothing of now. The time of all of them may run out at once.
  mutating func noteStreams(_ streams: Int) { self.streams = streams }

  /// Notes the end of a request that says nothing of the network.
  mutating func noteNothing(nowNs: UInt64, elapsedNs: UInt64) {
    if state == .halfOpen, probes.isCurrent(nowNs: nowNs, elapsedNs: elapsedNs) {
      probes.noteEnd()
    }
  }

  /// How many requests may be sent now.
  mutating func allowance(nowNs: UInt64) -> Int {
    switch state {
    case .closed: return .max
    case .open:
      guard nowNs >= openUntilNs else { return 0 }
      state = .halfOpen
      openUntilNs = 0
      probes.begin(nowNs: nowNs)
      leastAskedMs = nil
      return probes.allowance
    case .halfOpen: return probes.allowance
    }
  }

  /// How many probes to send on each of so many connections: what nothing gets through is to be known of several.
  static func probesEach(of connections: Int) -> Int {
    max(1, (BreakerLimits.probesMax + connections - 1) / max(1, connections))
  }

  /// Notes requests that were sent while it is half-open.
  mutating func noteProbes(_ count: Int, nowNs: UInt64) { probes.noteSent(count, nowNs: nowNs) }

  /// Closes it when there was nothing to probe with for long, or no answer to a probe that was to come long before.
  /// - Returns: whether that has closed it.
  mutating func closeIfIdle(nowNs: UInt64) -> Bool {
    let quietSinceNs: UInt64
    switch state {
    case .closed: return false
    case .open: quietSinceNs = openUntilNs
    case .halfOpen: quietSinceNs = probes.lastNs
    }
    guard nowNs >= quietSinceNs &+ BreakerLimits.idleNs else { return false }
    close(nowNs)
    return true
  }

  private mutating func noteGoodProbe(_ nowNs: UInt64, _ elapsedNs: UInt64) -> Bool {
    guard state == .halfOpen, probes.isCurrent(nowNs: nowNs, elapsedNs: elapsedNs) else {
      return false
    }
    evidence.noteGoodProbe(nowNs: nowNs)
    leastAskedMs = nil
    guard probes.noteGood() else { return false }
    close(nowNs)
    return true
  }

  private mutating func open(_ nowNs: UInt64) {
    if openings == 0 { openedNs = nowNs }
    let windowMs = min(BreakerLimits.openMsMin << min(openings, 16), BreakerLimits.openMsMax)
    openings += 1
    let leastMs = max(windowMs, leastAskedMs ?? 0)
    // Lanes that opened together do not probe together.
    let openMs = leastMs + UInt64.random(in: 0...leastMs / 4)
    state = .open
    openUntilNs = nowNs &+ openMs &* 1_000_000
  }

  private mutating func close(_ nowNs: UInt64) {
    state = .closed
    openUntilNs = 0
    openings = 0
    ramp = BreakerLimits.rampFirst
    closedNs = nowNs
    window.clear(nowNs: nowNs)
    forgetTroubles()
  }

  private mutating func turn(_ nowNs: UInt64) {
    if !window.turn(nowNs: nowNs) { forgetTroubles() }
  }

  private mutating func forgetTroubles() {
    evidence.forgetTrouble()
    leastAskedMs = nil
  }
}
