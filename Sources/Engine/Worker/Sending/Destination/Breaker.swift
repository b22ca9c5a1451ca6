/// Stops sending to a destination while most of its answers are trouble of its own: 5xx, an exceeded
/// quota, silence.
///
/// Closed, it counts answers in a sliding window, and lets fewer requests be in flight in proportion as they are
/// trouble. Open, nothing is sent until the pause is over; then, half-open, a few probes at a time are let through:
/// when most of their answers are good they close it, else it opens for twice as long. One per destination and lane: a
/// lane learns within some 20 answers, and no state that is shared can be wrong.
package struct Breaker {
  enum State {
    case closed, open, halfOpen
  }

  /// What an answer of trouble means for its push.
  enum Consequence {
    /// An attempt like any other.
    case counted
    /// It has opened the breaker; as `forgiven`.
    case opened
    /// The request was under way when the breaker opened, or was a probe: no attempt is burned.
    case forgiven
  }

  /// Answers within the window below which their share of trouble says nothing: it is looked at with each answer, and
  /// of few answers most are trouble by chance now and then.
  static let answersMin = 64
  static let troublePercentMin = 60
  /// Of so few answers nearly all must be trouble.
  static let firstAnswersMin = 20
  static let firstTroublePercentMin = 90
  /// The share from which on fewer requests are in flight.
  static let slowedPercentMin = 10
  /// The last so many answers, roughly, are judged by themselves: after minutes of good answers at a high
  /// rate the window would take seconds, and tens of thousands of attempts, to notice an outage.
  static let recentMax = 256
  /// The most attempts that trouble burns until it opens.
  package static let attemptsBurnedMax = recentMax * 3 / 4
  static let bucketNs: UInt64 = 1_000_000_000
  /// The window is so many buckets long, the running one included.
  static let bucketCount = 5
  static let openMsMin: UInt64 = 1_000
  static let openMsMax: UInt64 = 30_000
  /// A longer Retry-After is kept to by the pushes that were told, while probes go out after this.
  static let retryAfterMsMax: UInt64 = 900_000
  /// Probes that are under way at a time.
  static let probesMax = 4
  /// Good answers to probes that close it, unless so many of trouble come first and open it: most of five decide.
  static let successesMin = 3
  static let probeTroublesMax = 3
  /// After so long without anything to probe with it is taken for closed: longer than a probe can take.
  static let idleNs: UInt64 = 60_000_000_000

  private(set) var state = State.closed
  /// Until when nothing is sent, in the loop's time; 0 unless open.
  private(set) var openUntilNs: UInt64 = 0
  /// When it opened first, in the loop's time, however often it has been half-open since.
  private(set) var openedNs: UInt64 = 0
  /// Openings since it was closed last.
  private var openings: UInt64 = 0

  /// What was sent before this says nothing about now.
  private var epochNs: UInt64 = 0
  private var lastProbeNs: UInt64 = 0
  private var probes = 0
  private var successes = 0
  private var probeTroubles = 0

  // The window: the running bucket, and the sums of those before it.
  private var bucketStartNs: UInt64 = 0
  private var answers = 0
  private var troubles = 0
  private var past = [(answers: Int, troubles: Int)](
    repeating: (0, 0), count: Breaker.bucketCount - 1)
  private var oldest = 0
  /// The latest answers, older ones with half their weight each time that there are `recentMax`.
  private var recentAnswers = 0
  private var recentTroubles = 0
  private var pastAnswers = 0
  private var pastTroubles = 0

  /// Notes an answer that is no trouble, whatever it says of its push.
  /// - Returns: whether it has closed the breaker.
  mutating func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    guard state == .closed else { return noteGoodProbe(nowNs, elapsedNs) }
    if nowNs &- bucketStartNs >= Self.bucketNs { turn(nowNs) }
    answers &+= 1
    noteRecent()
    return false
  }

  /// Notes trouble, or an answer that did not come.
  mutating func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?
  ) -> Consequence {
    switch state {
    case .closed:
      guard isCurrent(nowNs, elapsedNs) else { return .forgiven }
      if nowNs &- bucketStartNs >= Self.bucketNs { turn(nowNs) }
      answers &+= 1
      troubles &+= 1
      recentTroubles &+= 1
      noteRecent()
      guard
        Self.isTooMuch(troubles + pastTroubles, of: answers + pastAnswers, atLeast: Self.answersMin)
          || Self.isTooMuch(recentTroubles, of: recentAnswers, atLeast: Self.recentMax / 2)
          || Self.isTooMuch(
            troubles + pastTroubles, of: answers + pastAnswers, atLeast: Self.firstAnswersMin,
            percent: Self.firstTroublePercentMin)
      else { return .counted }
      open(nowNs, retryAfterMs)
      return .opened
    case .open:
      if let retryAfterMs {
        openUntilNs = max(openUntilNs, nowNs &+ Self.bounded(retryAfterMs) &* 1_000_000)
      }
    case .halfOpen:
      guard isCurrent(nowNs, elapsedNs) else { break }
      probes = max(0, probes - 1)
      probeTroubles += 1
      if probeTroubles >= Self.probeTroublesMax { open(nowNs, retryAfterMs) }
    }
    return .forgiven
  }

  private mutating func noteRecent() {
    recentAnswers &+= 1
    guard recentAnswers >= Self.recentMax else { return }
    recentAnswers /= 2
    recentTroubles /= 2
  }

  private static func isTooMuch(
    _ troubles: Int, of answers: Int, atLeast answersMin: Int, percent: Int = troublePercentMin
  ) -> Bool {
    answers >= answersMin && troubles * 100 >= answers * percent
  }

  /// Whether the window has any trouble in it: without, as many requests may be in flight as the transport has room for.
  var sawTrouble: Bool { troubles &+ pastTroubles > 0 }

  /// How many requests may be in flight where `streams` could be.
  func requestsMax(of streams: Int) -> Int {
    let troubles = troubles + pastTroubles
    guard state == .closed, sawTrouble else { return streams }
    let answers = answers + pastAnswers
    guard
      Self.isTooMuch(
        troubles, of: answers, atLeast: Self.firstAnswersMin, percent: Self.slowedPercentMin)
    else { return streams }
    return max(1, streams * (answers - troubles) / answers)
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
      return Self.probesMax
    case .halfOpen: return max(0, Self.probesMax - probes)
    }
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
    successes += 1
    guard successes >= Self.successesMin else { return false }
    close(nowNs)
    return true
  }

  private func isCurrent(_ nowNs: UInt64, _ elapsedNs: UInt64) -> Bool {
    nowNs &- elapsedNs >= epochNs
  }

  private static func bounded(_ retryAfterMs: UInt64) -> UInt64 {
    min(retryAfterMs, retryAfterMsMax)
  }

  private mutating func open(_ nowNs: UInt64, _ retryAfterMs: UInt64?) {
    if openings == 0 { openedNs = nowNs }
    let windowMs = min(Self.openMsMin << min(openings, 16), Self.openMsMax)
    openings += 1
    let leastMs = max(windowMs, Self.bounded(retryAfterMs ?? 0))
    // Lanes that opened together do not probe together.
    let openMs = leastMs + UInt64.random(in: 0...leastMs / 4)
    state = .open
    openUntilNs = nowNs &+ openMs &* 1_000_000
  }

  private mutating func close(_ nowNs: UInt64) {
    state = .closed
    openUntilNs = 0
    openings = 0
    bucketStartNs = nowNs
    clearWindow()
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
      past[oldest] = (answers, troubles)
      oldest = (oldest + 1) % past.count
      answers = 0
      troubles = 0
    }
    bucketStartNs &+= elapsed &* Self.bucketNs
  }

  private mutating func clearWindow() {
    answers = 0
    troubles = 0
    pastAnswers = 0
    pastTroubles = 0
    recentAnswers = 0
    recentTroubles = 0
    for index in past.indices { past[index] = (0, 0) }
  }
}
