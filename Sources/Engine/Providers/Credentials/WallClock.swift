import Glibc

/// Where credentials take the time from; tests inject their own.
package struct WallClock: Sendable {
  /// Milliseconds since 1970.
  package let nowMs: @Sendable () -> Int64
  /// How far this machine's own clock is ahead of it.
  package let aheadMs: @Sendable () -> Int64

  package init(
    nowMs: @escaping @Sendable () -> Int64, aheadMs: @escaping @Sendable () -> Int64 = { 0 }
  ) {
    self.nowMs = nowMs
    self.aheadMs = aheadMs
  }

  /// For messages about a refused token: which clock dated it.
  var advice: String {
    let seconds = Int64((Double(aheadMs()) / 1_000).rounded())
    let difference =
      seconds == 0
      ? "" : ", which this machine's is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind")"
    return "Redis's clock, by which tokens are dated\(difference)"
  }

  package static let system = WallClock {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
