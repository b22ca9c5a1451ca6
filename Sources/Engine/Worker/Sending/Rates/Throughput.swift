/// How many pushes left lately: in each of the last two spans of time, one behind the other.
struct Throughput {
  /// When the span under way began, and how many pushes had left by then.
  private var beganNs: UInt64 = 0
  private var sentBefore = 0
  /// Whether anything is known: not after a pause.
  private(set) var isKnown = false
  /// In the last span that is over, and in the one before it; 0 when it is not known.
  private(set) var last = 0
  private(set) var before = 0

  /// Ends the span under way when it is over. One that was longer counts by its rate.
  /// - Parameter sent: how many pushes have left by now.
  mutating func look(spanNs: UInt64, sent: Int, nowNs: UInt64) {
    let passedNs = nowNs &- beganNs
    guard passedNs >= spanNs else { return }
    let isOld = passedNs > spanNs &* WorkerLimits.sampleSpansMax
    isKnown = !isOld
    before = isOld ? 0 : last
    last = isOld ? 0 : Int(Double(sent - sentBefore) / Double(passedNs) * Double(spanNs))
    (beganNs, sentBefore) = (nowNs, sent)
  }
}

/// The pushes that were submitted to a destination, and how many lately.
struct Departures {
  private var sent = 0
  private var throughput = Throughput()

  mutating func note(_ count: Int, nowNs: UInt64) {
    sent += count
    throughput.look(spanNs: WorkerLimits.directSpanMs * 1_000_000, sent: sent, nowNs: nowNs)
  }

  /// How many they were in the last two spans of `WorkerLimits.directSpanMs`.
  mutating func lately(nowNs: UInt64) -> Int {
    note(0, nowNs: nowNs)
    return throughput.last + throughput.before
  }
}
