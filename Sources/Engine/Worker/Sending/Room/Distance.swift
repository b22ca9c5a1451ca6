/// How far away Redis is, and how much a lane does ahead of its answers because of that; loop-bound.
///
/// A lane asks Redis three times for a chunk, one trip after the other. While a trip lasts, as many pushes leave as were ready
/// before it. So windows that suit a Redis nearby are to be wider by what leaves in a trip. How much that is shows in what
/// left lately: it doubles from trip to trip as long as it all leaves, and a network that takes little keeps it small.
struct Distance {
  private var throughput = Throughput()

  /// Whether a round trip takes long beside what else happens in it.
  static func isFar(_ roundTripNs: UInt64) -> Bool { roundTripNs >= WorkerLimits.farNsMin }

  /// How many pushes to have ready beyond what is enough for a Redis nearby.
  /// - Parameter sent: how many the lane has submitted by now.
  mutating func pushesAhead(sent: Int, roundTripNs: UInt64, nowNs: UInt64) -> Int {
    guard Self.isFar(roundTripNs) else { return 0 }
    throughput.look(spanNs: roundTripNs, sent: sent, nowNs: nowNs)
    return min(2 * max(throughput.last, throughput.before), WorkerLimits.aheadPushesMax)
  }
}
