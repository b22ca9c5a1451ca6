internal import Model

/// How long the answers of a network took, in buckets.
struct AnswerTimes: Sendable {
  /// Answers within each upper bound, in milliseconds, and above the one before.
  private var counts: [Int: Int] = [:]

  /// Reads a field of the histograms in Redis: `<network>|<upper bound in ms>`.
  /// - Returns: nil for another field. Any client may write there.
  static func bucket(_ field: String) -> (network: Network, boundMs: Int)? {
    let parts = field.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 2, let network = Network(rawValue: String(parts[0])),
      let boundMs = Int(parts[1]), boundMs > 0
    else { return nil }
    return (network, boundMs)
  }

  /// Bounds beyond `ServerLimits.chartBoundsMax` are left out.
  mutating func add(_ count: Int, boundMs: Int) {
    guard counts[boundMs] != nil || counts.count < ServerLimits.chartBoundsMax else { return }
    counts[boundMs] = StoredNumber.count((counts[boundMs] ?? 0) + StoredNumber.count(count))
  }

  var total: Int { counts.values.reduce(0) { StoredNumber.count($0 + $1) } }

  /// The bound within which so many per cent of the answers came; 60,000 stands for all that took longer than 10 s.
  /// - Returns: nil without any answer.
  func boundMs(percent: Int) -> Int? {
    // At least one answer, and rounded up: the 99th of a hundred is within it.
    let wanted = max(1, (total * percent + 99) / 100)
    var sum = 0
    for (boundMs, count) in counts.sorted(by: { $0.key < $1.key }) {
      sum += count
      if sum >= wanted { return boundMs }
    }
    return nil
  }
}
