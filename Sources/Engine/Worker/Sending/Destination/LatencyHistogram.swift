internal import Model
internal import Reactor

/// Answer times by network, in the buckets of `pushpool:latency:<minute>`; loop-bound.
final class LatencyHistogram {
  /// Upper bounds in milliseconds; the last bucket takes the rest.
  static let boundsMs: [UInt64] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000,
  ]
  private var times = [DurationHistogram](
    repeating: DurationHistogram(boundsUs: boundsMs.dropLast().map { $0 * 1_000 }),
    count: Network.allCases.count)
  /// How many of each bucket were taken, by network.
  private var taken = [[Int]](
    repeating: Array(repeating: 0, count: boundsMs.count), count: Network.allCases.count)

  func add(_ network: Network, elapsedNs: UInt64) { times[network.index].add(elapsedNs) }

  /// All times so far, of networks that have answered.
  var all: [Network: DurationHistogram] {
    var all: [Network: DurationHistogram] = [:]
    for network in Network.allCases where times[network.index].counts.contains(where: { $0 > 0 }) {
      all[network] = times[network.index]
    }
    return all
  }

  /// Returns the counts since the last call, as (network, upper bound in ms, count).
  func takeAll() -> [(network: Network, boundMs: UInt64, count: Int)] {
    var found: [(network: Network, boundMs: UInt64, count: Int)] = []
    for network in Network.allCases {
      let counts = times[network.index].counts
      for (bucket, bound) in Self.boundsMs.enumerated() {
        let count = counts[bucket] - taken[network.index][bucket]
        if count > 0 { found.append((network, bound, count)) }
      }
      taken[network.index] = counts
    }
    return found
  }
}
