/// Durations since something began: how many fell below each of some bounds, and their sum. Once it is made, adding to it
/// allocates nothing.
package struct DurationHistogram: Sendable, Equatable {
  /// Upper bounds in nanoseconds, in rising order. What is above the last has a bucket of its own.
  package let boundsNs: [UInt64]
  /// How many fell into the bucket of each bound, and last how many above all of them.
  package private(set) var counts: [Int]
  package private(set) var sumNs: UInt64 = 0

  /// - Parameter boundsUs: upper bounds in microseconds, in rising order.
  package init(boundsUs: [UInt64]) {
    boundsNs = boundsUs.map { $0 * 1_000 }
    counts = Array(repeating: 0, count: boundsUs.count + 1)
  }

  package mutating func add(_ ns: UInt64) {
    var bucket = 0
    while bucket < boundsNs.count, boundsNs[bucket] < ns { bucket += 1 }
    counts[bucket] &+= 1
    sumNs &+= ns
  }

  /// Adds what another of the same bounds has; of other bounds, nothing.
  package static func += (sum: inout DurationHistogram, more: DurationHistogram) {
    guard sum.boundsNs == more.boundsNs else { return }
    for bucket in sum.counts.indices { sum.counts[bucket] &+= more.counts[bucket] }
    sum.sumNs &+= more.sumNs
  }

  // MARK: As text

  /// `<bound in µs>:<count> …`, then `+:<count>` above all bounds, and `sum:<µs>`, with spaces between.
  package var text: String {
    var words = zip(boundsNs, counts).map { "\($0 / 1_000):\($1)" }
    words.append("+:\(counts[counts.count - 1])")
    words.append("sum:\(sumNs / 1_000)")
    return words.joined(separator: " ")
  }

  /// Nil for what `text` does not say: other words, bounds that do not rise, negative counts.
  package init?(text: String) {
    guard text.utf8.count <= ReactorLimits.histogramBytesMax else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 2, words.count - 2 <= ReactorLimits.histogramBoundsMax,
      let sumUs = Self.number(words[words.count - 1], named: "sum"),
      let above = Self.number(words[words.count - 2], named: "+")
    else { return nil }
    var bounds: [UInt64] = []
    var counts: [Int] = []
    for word in words.dropLast(2) {
      let parts = word.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let bound = Self.number(parts[0]), let count = Self.number(parts[1]),
        bounds.last.map({ $0 < bound * 1_000 }) ?? true
      else { return nil }
      bounds.append(bound * 1_000)
      counts.append(Int(count))
    }
    boundsNs = bounds
    self.counts = counts + [Int(above)]
    sumNs = sumUs * 1_000
  }

  private static func number(_ word: Substring, named name: String) -> UInt64? {
    guard word.hasPrefix(name + ":") else { return nil }
    return number(word.dropFirst(name.utf8.count + 1))
  }

  /// So small that neither a thousand times as much nor the sum of thousands overflows.
  private static func number(_ digits: Substring) -> UInt64? {
    guard (1...15).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return UInt64(digits)
  }
}
