/// How much of what a network answered was trouble, of the last seconds and of the last answers. Times are the loop's.
struct AnswerWindow {
  // The running bucket, and the sums of those before it.
  private var bucketStartNs: UInt64 = 0
  private var answers = 0
  private var troubles = 0
  /// Answers, other than trouble, that asked their push alone to come later.
  private var declines = 0
  private var past = [(answers: Int, troubles: Int, declines: Int)](
    repeating: (0, 0, 0), count: BreakerLimits.bucketCount - 1)
  private var oldest = 0
  private var pastAnswers = 0
  private var pastTroubles = 0
  private var pastDeclines = 0
  /// The latest answers, older ones with half their weight each time that there are `BreakerLimits.recentMax`.
  private var recentAnswers = 0
  private var recentTroubles = 0

  /// Trouble within the window.
  var trouble: Int { troubles &+ pastTroubles }

  mutating func noteGood() {
    answers &+= 1
    noteRecent()
  }

  mutating func noteTrouble() {
    answers &+= 1
    troubles &+= 1
    recentTroubles &+= 1
    noteRecent()
  }

  /// An answer that was noted as good asks its push alone to come later.
  mutating func noteDecline() { declines &+= 1 }

  private mutating func noteRecent() {
    recentAnswers &+= 1
    guard recentAnswers >= BreakerLimits.recentMax else { return }
    recentAnswers /= 2
    recentTroubles /= 2
  }

  // MARK: Shares

  /// The share of what gets through, where so much is trouble that it is the network's; nil where it may be the pushes' own.
  var shareGettingThrough: Double? {
    let (answers, troubles) = (answers + pastAnswers, troubles + pastTroubles)
    guard answers >= BreakerLimits.answersMin,
      troubles * 100 > answers * BreakerLimits.sharedPercentMin
    else { return nil }
    return Double(max(0, answers - troubles - declines - pastDeclines)) / Double(answers)
  }

  /// The share of answers that are good, beside the one from which on nothing is slowed down.
  var usableShare: Double {
    let (answers, troubles) = (answers + pastAnswers, troubles + pastTroubles)
    guard answers >= BreakerLimits.firstTroublesMin, recentAnswers > 0 else { return 1 }
    let trouble = min(
      Double(troubles) / Double(answers), Double(recentTroubles) / Double(recentAnswers))
    return (1 - trouble) * 100 / Double(100 - BreakerLimits.slowedPercentMin)
  }

  // MARK: Time

  /// Whether the running bucket is over: then `turn` is called before anything is noted.
  func isBucketOver(nowNs: UInt64) -> Bool { nowNs &- bucketStartNs >= BreakerLimits.bucketNs }

  /// Begins a bucket.
  /// - Returns: false when the whole window was over, and nothing is known any more.
  mutating func turn(nowNs: UInt64) -> Bool {
    let elapsed = (nowNs &- bucketStartNs) / BreakerLimits.bucketNs
    guard elapsed < UInt64(BreakerLimits.bucketCount) else {
      clear(nowNs: nowNs)
      return false
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
    bucketStartNs &+= elapsed &* BreakerLimits.bucketNs
    return true
  }

  /// Begins anew.
  mutating func clear(nowNs: UInt64) {
    bucketStartNs = nowNs
    answers = 0
    troubles = 0
    declines = 0
    pastAnswers = 0
    pastTroubles = 0
    pastDeclines = 0
    recentAnswers = 0
    recentTroubles = 0
    for index in past.indices { past[index] = (0, 0, 0) }
  }
}
