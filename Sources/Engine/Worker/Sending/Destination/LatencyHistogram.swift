internal import Model

/// Answer times by network, in the buckets of `pushpool:latency:<minute>`, since the last flush; loop-bound.
final class LatencyHistogram {
  /// Upper bounds in milliseconds; the last bucket takes the rest.
  static let boundsMs: [UInt64] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000,
  ]
  private var counts = [Int](
    repeating: 0, count: Network.allCases.count * (LatencyHistogram.boundsMs.count))

  func add(_ network: Network, elapsedNs: UInt64) {
    let ms = elapsedNs / 1_000_000
    var bucket = 0
    while bucket < Self.boundsMs.count - 1 && Self.boundsMs[bucket] < ms { bucket += 1 }
    counts[network.index * Self.boundsMs.count + bucket] += 1
  }

  /// Returns the counts, as (network, upper bound in ms, count), and starts counting again.
  func takeAll() -> [(network: Network, boundMs: UInt64, count: Int)] {
    var taken: [(network: Network, boundMs: UInt64, count: Int)] = []
    for network in Network.allCases {
      for (bucket, bound) in Self.boundsMs.enumerated() {
        let index = network.index * Self.boundsMs.count + bucket
        guard counts[index] > 0 else { continue }
        taken.append((network, bound, counts[index]))
        counts[index] = 0
      }
    }
    return taken
  }
}
