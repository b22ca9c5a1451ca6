import Glibc

/// Where credentials take the time from; tests inject their own.
package struct WallClock: Sendable {
  /// Milliseconds since 1970.
  package let nowMs: @Sendable () -> Int64

  package init(nowMs: @escaping @Sendable () -> Int64) {
    self.nowMs = nowMs
  }

  package static let system = WallClock {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
