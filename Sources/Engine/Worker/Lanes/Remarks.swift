/// Says which of the sentences that come up again and again are logged: one that was among the last few once an hour, anything else
/// once a minute.
struct Remarks {
  private var last: [(sentence: String, atNs: UInt64)] = []

  /// Takes a sentence.
  /// - Parameter nowNs: the loop's time.
  /// - Returns: whether it is to be logged now.
  mutating func take(_ sentence: String, nowNs: UInt64) -> Bool {
    let known = last.firstIndex { $0.sentence == sentence }
    if let former = known.map({ last[$0] }) ?? last.last {
      let pauseMs = known == nil ? WorkerLimits.remarkOtherwiseMs : WorkerLimits.remarkAgainMs
      guard nowNs &- former.atNs >= pauseMs * 1_000_000 else { return false }
    }
    if let known { last.remove(at: known) }
    last = last.suffix(WorkerLimits.remarksMax - 1) + [(sentence, nowNs)]
    return true
  }
}
