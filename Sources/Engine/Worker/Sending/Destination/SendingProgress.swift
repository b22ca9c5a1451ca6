internal import HTTP2

/// Whether a destination's pushes get anywhere. Times are the loop's.
struct SendingProgress {
  /// When anything was answered last.
  private(set) var answeredNs: UInt64?
  /// When the latest of the requests that were answered was submitted.
  private var overtakenNs: UInt64 = 0
  /// Of the latest requests, how many were answered and of how many the time ran out; older ones with half their weight each time
  /// that there are `endsMax`.
  private var answers = 0
  private var silences = 0
  /// Until when what comes is put aside at once because nothing connected.
  private(set) var parkedUntilNs: UInt64 = 0
  /// Since when pushes have waited and nothing was answered; nil while things move.
  private var stillSinceNs: UInt64?
  /// When the last connection that was ready ended; nil while one is.
  private var lostNs: UInt64?
  /// Whether nothing connects: what waits then is to take no room from other destinations.
  private(set) var isOutOfTouch = false
  /// When pushes were put aside last because nothing moved; nil since something has been answered.
  private var stuckNs: UInt64?

  private static let endsMax = 16_384
  /// Of those, the share without an answer up to which the network is well.
  private static let silencePercentMax = 10

  /// Something was answered: what comes may be queued again.
  mutating func noteAnswer(_ answer: RequestAnswer, nowNs: UInt64) {
    overtakenNs = max(overtakenNs, nowNs &- answer.elapsedNs)
    answers &+= 1
    if answers >= Self.endsMax { age() }
    stillSinceNs = nil
    stuckNs = nil
    parkedUntilNs = 0
    answeredNs = nowNs
  }

  /// A connection is ready, and what it takes to use it is here.
  mutating func noteTouch() {
    lostNs = nil
    isOutOfTouch = false
  }

  /// A connection ended, or could not be opened, and none is ready.
  mutating func noteLoss(nowNs: UInt64) {
    let since = lostNs ?? nowNs
    lostNs = since
    if nowNs &- since >= WorkerLimits.outOfTouchMs &* 1_000_000 { isOutOfTouch = true }
  }

  /// The time of a request ran out.
  /// - Returns: whether that is the request's own trouble: those behind it are answered, nearly all of them.
  mutating func noteSilence(_ answer: RequestAnswer, nowNs: UInt64) -> Bool {
    silences += 1
    if silences >= Self.endsMax { age() }
    return nowNs &- answer.elapsedNs < overtakenNs
      && silences * 100 <= (answers + silences) * Self.silencePercentMax
  }

  private mutating func age() {
    answers /= 2
    silences /= 2
  }

  /// Nothing waits, or what waits does so for a reason of its own.
  mutating func forgetWait() {
    stillSinceNs = nil
    lostNs = nil
  }

  /// Pushes wait. For how long they are to be put aside because they have waited for too long; nil when they have not. Where
  /// nothing connects what comes is put aside for as long. Where nothing is answered some of it waits: the network may be well
  /// again, and what is under way since before does not tell until its time runs out.
  /// - Parameter isConnected: whether they could be sent.
  mutating func putAsideMs(isConnected: Bool, nowNs: UInt64) -> UInt64? {
    let since = stillSinceNs ?? nowNs
    stillSinceNs = since
    let stillMs = (nowNs &- since) / 1_000_000
    if !isConnected, stillMs >= WorkerLimits.outOfTouchMs { isOutOfTouch = true }
    guard stillMs >= (isConnected ? WorkerLimits.unansweredMs : WorkerLimits.unreachableMs) else {
      return nil
    }
    stuckNs = nowNs
    stillSinceNs = nil
    guard !isConnected else { return WorkerLimits.unansweredDelayMs }
    parkedUntilNs = nowNs &+ WorkerLimits.parkedDelayMs &* 1_000_000
    return WorkerLimits.parkedDelayMs
  }

  /// Whether pushes were put aside because nothing moved, and nothing has been answered since.
  var isUnanswered: Bool { stuckNs != nil }

  /// Whether nothing was answered when it was tried last, not long ago.
  func isStuck(nowNs: UInt64) -> Bool {
    guard let stuckNs else { return false }
    return nowNs &- stuckNs < WorkerLimits.stuckMs &* 1_000_000
  }
}
