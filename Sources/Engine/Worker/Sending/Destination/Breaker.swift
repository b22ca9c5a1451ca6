/// Stops sending to a destination while nothing gets through to it: its answers are 5xx, or none.
///
/// Requests that left together are answered together, and those that are refused may come first, or last. So the answers of
/// one moment say little, however many they are. Closed, it opens when trouble meets requests that were sent after anything
/// good was heard, and again those that were sent after that; or when hardly anything is good for longer than all that is in
/// flight takes. Meanwhile fewer requests are in flight, in proportion as they are trouble. Open, nothing is sent until the
/// pause is over; then, half-open, a few probes at a time are let through, until it is known whether some of them get
/// through. It closes by degrees: as many more requests are in flight as are answered well. One per destination and lane: no
/// state that is shared can be wrong.
package struct Breaker {
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

  /// Trouble in a row that opens it, of requests that were sent since the latest good answer. The last must have been sent after the
  /// first of them came, or have waited for so long in vain. Of 60 % at random that is met with once in 10^14 answers.
  static let troublesMin = 64
  static let waitedNs: UInt64 = 1_000_000_000
  /// Trouble in a row that opens it where nothing has been good within the window. Less of it within the window opens
  /// nothing: what comes seldom costs little.
  static let firstTroublesMin = 20
  /// How much trouble a good answer makes up for: so what nearly all is trouble opens it in the end, over 93 % of the answers.
  static let troublesPerGood = 14
  /// Trouble that nothing has made up for which opens it, in requests that may be in flight, and at least and at most. Of what is in
  /// flight all trouble may come first.
  static let surplusOfStreams = 2
  static let surplusMin = 256
  static let surplusMax = 16_384
  /// The most attempts that an outage burns: what is trouble after so much in a row is no attempt of its push.
  package static let attemptsBurnedMax = 64
  /// The attempt of a push from which on its trouble opens it where nothing was good for a while: so an outage that few requests
  /// meet with is known as well, and leaves each push attempts for the time after it. The attempts say it rather than a count on
  /// this lane: lanes and workers take turns with a push.
  static let attemptMin = 5
  /// How long that while is. Eight attempts seldom take less; and what one push alone meets with, while others get through now
  /// and then, is to be its own affair.
  static let quietNs: UInt64 = 15_000_000_000
  /// Answers within the window below which their share of trouble says nothing.
  static let answersMin = 64
  /// The share of trouble from which on not every one is an attempt of its push.
  static let sharedPercentMin = 10
  /// The share of trouble from which on fewer requests are in flight.
  static let slowedPercentMin = 33
  /// The share is the lesser one of the window's and of the last so many answers', roughly: what is over slows nothing.
  static let recentMax = 256
  static let bucketNs: UInt64 = 1_000_000_000
  /// The window is so many buckets long, the running one included.
  static let bucketCount = 5
  /// The shortest pause: a network that is well again is sent to within two seconds.
  static let openMsMin: UInt64 = 400
  static let openMsMax: UInt64 = 1_200
  /// A longer Retry-After is kept to by the pushes that were told, while probes go out after this.
  static let retryAfterMsMax: UInt64 = 900_000
  /// Probes that are under way at a time.
  static let probesMax = 4
  /// Good answers to probes that close it, unless so many of trouble come in a row and open it.
  static let successesMin = 3
  static let probeTroublesMax = 3
  /// Requests in flight when it has closed, how many more for each good answer, and from how many on it holds back none.
  static let rampFirst = 16
  static let rampStep = 2
  static let rampMax = 4_096
  /// After so long without anything to probe with it is taken for closed: longer than a probe can take.
  static let idleNs: UInt64 = 60_000_000_000

  private(set) var state = State.closed
  /// Until when nothing is sent, in the loop's time; 0 unless open.
  private(set) var openUntilNs: UInt64 = 0
  /// When it opened first, in the loop's time, however often it has been half-open since.
  private(set) var openedNs: UInt64 = 0
  /// Openings since it was closed last.
  private var openings: UInt64 = 0

  /// The loop's time at which a request must have been sent, or later, to say anything about now.
  private var epochNs: UInt64 = 0
  private var lastProbeNs: UInt64 = 0
  private var probes = 0
  private var successes = 0
  /// Probes in a row that met with trouble.
  private var probeTroubles = 0
  /// When it was closed last, in the loop's time; 0 for never.
  private var closedNs: UInt64 = 0
  /// When the latest good answer came, in the loop's time; 0 for never.
  private var goodNs: UInt64 = 0
  /// Trouble since then.
  private var troublesInRow = 0
  /// Trouble of requests that were sent after that answer, and when the first of it came.
  private var freshTroubles = 0
  private var freshSinceNs: UInt64 = 0
  /// Trouble that no good answer has made up for.
  private var surplus = 0
  /// How many requests could be in flight, of which it was asked last.
  private var streams = 0
  /// The shortest Retry-After of the trouble since something was good; nil when there was none, 0 when one had none.
  private var leastAskedMs: UInt64?
  /// How many requests may be in flight since it has closed; `Int.max` when that is over.
  private var ramp = Int.max
  /// The part of an attempt that trouble has come to which was no whole one yet.
  private var owed = 0.0

  // The window: the running bucket, and the sums of those before it.
  private var bucketStartNs: UInt64 = 0
  private var answers = 0
  private var troubles = 0
  /// Answers, other than trouble, that asked their push alone to come later.
  private var declines = 0
  private var past = [(answers: Int, troubles: Int, declines: Int)](
    repeating: (0, 0, 0), count: Breaker.bucketCount - 1)
  private var oldest = 0
  /// The latest answers, older ones with half their weight each time that there are `recentMax`.
  private var recentAnswers = 0
  private var recentTroubles = 0
  private var pastAnswers = 0
  private var pastTroubles = 0
  private var pastDeclines = 0

  /// Notes an answer that is no trouble, whatever it says of its push.
  /// - Returns: whether it has closed the breaker.
  mutating func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    guard state == .closed else { return noteGoodProbe(nowNs, elapsedNs) }
    if nowNs &- bucketStartNs >= Self.bucketNs { turn(nowNs) }
    answers &+= 1
    noteRecent()
    goodNs = nowNs
    if surplus > 0 {
      surplus = max(0, surplus &- Self.troublesPerGood)
      troublesInRow = 0
      freshTroubles = 0
      leastAskedMs = nil
    }
    if ramp < .max { ramp = ramp < Self.rampMax ? ramp &+ Self.rampStep : .max }
    return false
  }

  /// Notes trouble, or an answer that did not come.
  /// - Parameter attempt: of the push that met with it, from 1; 0 where that says nothing.
  mutating func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int = 0
  ) -> Consequence {
    switch state {
    case .closed:
      guard isCurrent(nowNs, elapsedNs) else { return .forgiven }
      if nowNs &- bucketStartNs >= Self.bucketNs { turn(nowNs) }
      answers &+= 1
      troubles &+= 1
      recentTroubles &+= 1
      noteRecent()
      noteAsked(retryAfterMs)
      let isSeldom = troubles + pastTroubles < Self.firstTroublesMin
      let isEvidence = isEvidence(nowNs, elapsedNs)
      let isKnown = isEvidence && !isSeldom
      guard isKnown || attempt >= Self.attemptMin && isQuiet(nowNs) else {
        let isOutage = troublesInRow > Self.attemptsBurnedMax && !isSeldom
        return !isOutage && isAttempt() ? .counted : .forgiven
      }
      // How long one push is to stay away is no plan of the network's.
      if !isKnown { leastAskedMs = nil }
      open(nowNs)
      return .opened
    case .open: break
    case .halfOpen:
      guard isCurrent(nowNs, elapsedNs) else { break }
      probes = max(0, probes - 1)
      probeTroubles += 1
      noteAsked(retryAfterMs)
      if probeTroubles >= Self.probeTroublesMax { open(nowNs) }
      // Others have got through since: it is this push's affair.
      if attempt >= Self.attemptMin, goodNs >= openedNs { return .counted }
    }
    return .forgiven
  }

  /// Weighs trouble.
  /// - Returns: whether it is known by now that nothing gets through, or hardly anything.
  private mutating func isEvidence(_ nowNs: UInt64, _ elapsedNs: UInt64) -> Bool {
    surplus &+= 1
    troublesInRow &+= 1
    let sentNs = nowNs &- elapsedNs
    let wellNs = max(goodNs, closedNs)
    if sentNs >= wellNs {
      if freshTroubles == 0 { freshSinceNs = nowNs }
      freshTroubles &+= 1
      let wasGoodLately = wellNs > 0 && nowNs &- wellNs < UInt64(Self.bucketCount) * Self.bucketNs
      if freshTroubles >= (wasGoodLately ? Self.troublesMin : Self.firstTroublesMin),
        sentNs >= freshSinceNs || elapsedNs >= Self.waitedNs
      {
        return true
      }
    }
    return surplus >= min(max(streams * Self.surplusOfStreams, Self.surplusMin), Self.surplusMax)
  }

  private func isQuiet(_ nowNs: UInt64) -> Bool {
    goodNs == 0 || nowNs &- goodNs >= Self.quietNs
  }

  /// Whether trouble now is an attempt of its push. Where much of what is sent meets with it, it is the network's: of the attempts
  /// as much counts as the square of what gets through. A push that meets with trouble at random is so given up once in
  /// 100,000 times at most, and one that alone is never taken is given up in the end.
  private mutating func isAttempt() -> Bool {
    let (answers, troubles) = (answers + pastAnswers, troubles + pastTroubles)
    guard answers >= Self.answersMin, troubles * 100 > answers * Self.sharedPercentMin else {
      return true
    }
    let good = Double(max(0, answers - troubles - declines - pastDeclines)) / Double(answers)
    owed += good * good
    guard owed >= 1 else { return false }
    owed -= 1
    return true
  }

  /// An answer that was noted as good asks its push alone to come later.
  /// - Returns: whether that is an attempt of the push: while the network is in trouble, not each time.
  mutating func noteDecline() -> Bool {
    declines &+= 1
    return isAttempt()
  }

  /// A Retry-After is its push's. How long nothing is sent at all is what the least of them asks for.
  private mutating func noteAsked(_ retryAfterMs: UInt64?) {
    let askedMs = min(retryAfterMs ?? 0, Self.retryAfterMsMax)
    leastAskedMs = min(leastAskedMs ?? askedMs, askedMs)
  }

  private mutating func noteRecent() {
    recentAnswers &+= 1
    guard recentAnswers >= Self.recentMax else { return }
    recentAnswers /= 2
    recentTroubles /= 2
  }

  /// Whether fewer requests may be in flight than the transport has room for: it is asked how many, then.
  var isSlowing: Bool { troubles &+ pastTroubles > 0 || ramp < .max }

  /// How many requests may be in flight where so many could be.
  mutating func requestsMax(of streams: Int) -> Int {
    self.streams = streams
    guard state == .closed else { return streams }
    return min(ramp, max(1, Int((Double(streams) * min(1, usableShare)).rounded())))
  }

  /// The share of answers that are good, beside the one from which on nothing is slowed down.
  private var usableShare: Double {
    let (answers, troubles) = (answers + pastAnswers, troubles + pastTroubles)
    guard answers >= Self.firstTroublesMin, recentAnswers > 0 else { return 1 }
    let trouble = min(
      Double(troubles) / Double(answers), Double(recentTroubles) / Double(recentAnswers))
    return (1 - trouble) * 100 / Double(100 - Self.slowedPercentMin)
  }

  /// Notes the end of a request that says nothing of the network.
  mutating func noteNothing(nowNs: UInt64, elapsedNs: UInt64) {
    if state == .halfOpen, isCurrent(nowNs, elapsedNs) { probes = max(0, probes - 1) }
  }

  /// How many requests may be sent now.
  mutating func allowance(nowNs: UInt64) -> Int {
    switch state {
    case .closed: return .max
    case .open:
      guard nowNs >= openUntilNs else { return 0 }
      state = .halfOpen
      openUntilNs = 0
      epochNs = nowNs
      lastProbeNs = nowNs
      probes = 0
      successes = 0
      probeTroubles = 0
      leastAskedMs = nil
      return Self.probesMax
    case .halfOpen: return max(0, Self.probesMax - probes)
    }
  }

  /// How many probes to send on each of so many connections: what nothing gets through is to be known of several.
  static func probesEach(of connections: Int) -> Int {
    max(1, (probesMax + connections - 1) / max(1, connections))
  }

  /// Notes requests that were sent while it is half-open.
  mutating func noteProbes(_ count: Int, nowNs: UInt64) {
    probes += count
    lastProbeNs = nowNs
  }

  /// Closes it when there was nothing to probe with for long, or no answer to a probe that was to come long before.
  /// - Returns: whether that has closed it.
  mutating func closeIfIdle(nowNs: UInt64) -> Bool {
    let quietSinceNs: UInt64
    switch state {
    case .closed: return false
    case .open: quietSinceNs = openUntilNs
    case .halfOpen: quietSinceNs = lastProbeNs
    }
    guard nowNs >= quietSinceNs &+ Self.idleNs else { return false }
    close(nowNs)
    return true
  }

  private mutating func noteGoodProbe(_ nowNs: UInt64, _ elapsedNs: UInt64) -> Bool {
    guard state == .halfOpen, isCurrent(nowNs, elapsedNs) else { return false }
    probes = max(0, probes - 1)
    goodNs = nowNs
    successes += 1
    probeTroubles = 0
    leastAskedMs = nil
    guard successes >= Self.successesMin else { return false }
    close(nowNs)
    return true
  }

  private func isCurrent(_ nowNs: UInt64, _ elapsedNs: UInt64) -> Bool {
    nowNs &- elapsedNs >= epochNs
  }

  private mutating func open(_ nowNs: UInt64) {
    if openings == 0 { openedNs = nowNs }
    let windowMs = min(Self.openMsMin << min(openings, 16), Self.openMsMax)
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
    ramp = Self.rampFirst
    closedNs = nowNs
    bucketStartNs = nowNs
    clearWindow()
  }

  private mutating func forgetTroubles() {
    troublesInRow = 0
    freshTroubles = 0
    surplus = 0
    leastAskedMs = nil
  }

  /// Begins a bucket.
  private mutating func turn(_ nowNs: UInt64) {
    let elapsed = (nowNs &- bucketStartNs) / Self.bucketNs
    guard elapsed < UInt64(Self.bucketCount) else {
      bucketStartNs = nowNs
      return clearWindow()
    }
    for _ in 0..<elapsed {
      pastAnswers += answers - past[oldest].answers
      pastTroubles += troubles - past[oldest].troubles
      pastDeclines += declines - past[oldest].declines
      past[oldest] = (answers, troubles, declines)
      oldest = (oldest + 1) % past.count
      answers = 0
      troubles = 0
      declines = 0
    }
    bucketStartNs &+= elapsed &* Self.bucketNs
  }

  private mutating func clearWindow() {
    answers = 0
    troubles = 0
    declines = 0
    pastAnswers = 0
    pastTroubles = 0
    pastDeclines = 0
    recentAnswers = 0
    recentTroubles = 0
    forgetTroubles()
    for index in past.indices { past[index] = (0, 0, 0) }
  }
}
