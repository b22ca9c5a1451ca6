/// The calls that Redis noted because they took long.
package struct LongCalls: Sendable {
  /// Ascending.
  private let microseconds: [Int]

  package init(microseconds: [Int]) { self.microseconds = microseconds.sorted() }

  /// How long this share of them took at most; what is too short to be noted when there are none.
  package func atMostMs(share: Double) -> Double {
    guard !microseconds.isEmpty else { return Double(BenchLimits.notedCallMicroseconds) / 1_000 }
    let rank = Int((Double(microseconds.count) * share).rounded(.up))
    return Double(microseconds[min(max(rank, 1), microseconds.count) - 1]) / 1_000
  }

  /// Half of them, and the longest.
  var text: String {
    guard let longest = microseconds.last else { return "no call of Redis took 0.5 ms" }
    return
      "Redis made \(Figure.grouped(microseconds.count)) function calls over 0.5 ms: half of them took "
      + "\(Figure.text(atMostMs(share: 0.5), decimals: 1)) ms, the longest "
      + "\(Figure.text(Double(longest) / 1_000, decimals: 1)) ms"
  }
}
