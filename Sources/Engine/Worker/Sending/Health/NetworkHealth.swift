internal import HTTP2

/// Whether a destination's network takes what it is sent, and so how much may be sent: by its answers and their absence. Times
/// are the loop's.
struct NetworkHealth {
  private(set) var breaker: Breaker
  /// The reason that opened the breaker, until it is closed.
  private(set) var troubleReason: String?
  /// Whether the network refuses all pushes alike.
  private(set) var setup = SetupHold(pauseMsMax: SetupHold.sharedPauseMsMax)
  /// Whether it refuses the pushes of single jobs alike.
  private(set) var jobHolds = JobHolds()
  /// Whether the network has ever accepted anything here.
  private(set) var isProven = false
  /// The answers that came in place of the network's.
  private(set) var foreignAnswers = ForeignAnswers()

  init(breaker: Breaker) { self.breaker = breaker }

  /// Until when nothing is sent.
  var heldUntilNs: UInt64 { max(breaker.openUntilNs, setup.untilNs) }

  // MARK: Requests

  /// How many of so many requests may be sent over a transport now.
  /// - Parameter isUntriedBounded: whether few are sent before the network has accepted anything.
  mutating func allowance(
    of count: Int, over transport: any Transport, isUntriedBounded: Bool, nowNs: UInt64
  ) -> Int {
    var left = min(count, breaker.allowance(nowNs: nowNs))
    if breaker.state == .halfOpen {
      // One connection says nothing of the others.
      left = min(left, Breaker.probesEach(of: transport.readyConnections))
    }
    setup.forgetOld(nowNs: nowNs)
    // What the network thinks of the app is to be known before much is sent.
    if !isProven, isUntriedBounded {
      left = min(left, max(0, WorkerLimits.untriedRequestsMax - transport.inFlight))
    }
    if setup.isHolding { left = min(left, setup.allowance(nowNs: nowNs)) }
    if breaker.isSlowing {
      let requestsMax = breaker.requestsMax(of: transport.streamsAllowed)
      left = min(left, max(0, requestsMax - transport.inFlight))
    }
    return left
  }

  /// So many requests were sent.
  mutating func noteSent(_ requests: Int, nowNs: @autoclosure () -> UInt64) {
    if breaker.state == .halfOpen, requests > 0 { breaker.noteProbes(requests, nowNs: nowNs()) }
    if setup.isHolding { setup.noteProbes(requests) }
  }

  /// A request ended, however.
  mutating func noteEnd() { if setup.isHolding { setup.noteEnd() } }

  // MARK: Trouble

  /// Something was answered that is no trouble of the network's.
  /// - Returns: whether that has closed the breaker.
  mutating func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    if foreignAnswers.isUnbroken { foreignAnswers.end() }
    return noteClosed(breaker.noteGood(nowNs: nowNs, elapsedNs: elapsedNs))
  }

  /// `Breaker.closeIfIdle`.
  mutating func closeIfIdle(nowNs: UInt64) -> Bool {
    noteClosed(breaker.closeIfIdle(nowNs: nowNs))
  }

  private mutating func noteClosed(_ hasClosed: Bool) -> Bool {
    if hasClosed { troubleReason = nil }
    return hasClosed
  }

  /// `Breaker.noteTrouble`, and why.
  /// - Parameter streams: how many requests could be in flight.
  mutating func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int, streams: Int,
    reason: () -> String
  ) -> Breaker.Consequence {
    breaker.noteStreams(streams)
    let consequence = breaker.noteTrouble(
      nowNs: nowNs, elapsedNs: elapsedNs, retryAfterMs: retryAfterMs, attempt: attempt)
    if consequence == .opened { troubleReason = reason() }
    return consequence
  }

  /// Somebody else answered in the network's place.
  /// - Returns: whether nothing of the network's own had come since another such answer.
  mutating func noteForeign(_ reason: String, nowNs: UInt64) -> Bool {
    let wasUnbroken = foreignAnswers.isUnbroken
    foreignAnswers.note(reason, nowNs: nowNs)
    return wasUnbroken
  }

  /// `Breaker.noteDecline`.
  mutating func noteDecline() -> Bool { breaker.noteDecline() }

  /// `Breaker.noteNothing`.
  mutating func noteNothing(nowNs: UInt64, elapsedNs: UInt64) {
    breaker.noteNothing(nowNs: nowNs, elapsedNs: elapsedNs)
  }

  // MARK: How the app is set up

  /// The news that an accept is.
  enum Acceptance {
    case none
    /// Nothing was accepted before.
    case first
    /// The network refused every push until now.
    case released
  }

  /// The network accepted a push.
  mutating func noteAccept() -> Acceptance {
    let wasProven = isProven
    isProven = true
    guard !wasProven || !setup.isClean else { return .none }
    if setup.noteAccept() { return .released }
    return wasProven ? .none : .first
  }

  /// The network refused a push because of how the app is set up.
  /// - Parameter isSure: whether no token can be to blame for it.
  mutating func noteRefusal(
    _ reason: String, isSure: Bool, nowNs: UInt64, elapsedNs: UInt64
  ) -> SetupHold.Consequence {
    setup.noteRefusal(reason, isSure: isSure, nowNs: nowNs, elapsedNs: elapsedNs)
  }

  /// The network refused a push of a job because of how the app is set up.
  mutating func noteRefusal(
    of job: String, _ reason: String, isSure: Bool, nowNs: UInt64, elapsedNs: UInt64
  ) -> SetupHold.Consequence {
    jobHolds.noteRefusal(of: job, reason, isSure: isSure, nowNs: nowNs, elapsedNs: elapsedNs)
  }

  /// The network accepted a push of a job.
  mutating func noteAccept(of job: String) { jobHolds.noteAccept(of: job) }

  /// Pushes of a job were sent.
  mutating func noteSent(ofJob job: String, nowNs: UInt64) { jobHolds.noteSent(job, nowNs: nowNs) }

  /// Forgets refusals of jobs of long ago.
  mutating func forgetOldHolds(nowNs: UInt64) { jobHolds.forget(nowNs: nowNs) }
}
