/// How many pushes leave a lane in a span of time, as they did lately: samples of that length, one after the other.
struct Throughput {
  /// When the sample under way began, and how many pushes had left by then.
  private var sampleNs: UInt64 = 0
  private var sampleSent = 0
  private var lately = (last: 0, before: 0)

  /// The better of the last two samples; 0 after a pause, when nothing is known.
  /// - Parameters:
  ///   - spanNs: how long a sample is at least; what counts is the rate.
  ///   - sent: how many pushes the lane has submitted by now.
  mutating func pushes(in spanNs: UInt64, sent: Int, nowNs: UInt64) -> Int {
    let passedNs = nowNs &- sampleNs
    if passedNs >= spanNs {
      let isOld = passedNs > spanNs &* WorkerLimits.sampleSpansMax
      let inSpan =
        isOld ? 0 : Int(Double(sent - sampleSent) / Double(passedNs) * Double(spanNs))
      lately = (inSpan, isOld ? 0 : lately.last)
      (sampleNs, sampleSent) = (nowNs, sent)
    }
    return max(lately.last, lately.before)
  }
}
