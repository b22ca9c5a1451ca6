internal import Glibc
internal import Typesetting

/// The clocks that access goes by; tests give their own.
package struct AccessClock: Sendable {
  /// The time of day in epoch milliseconds, for instants that others wrote.
  let wallMs: @Sendable () -> Int64
  /// A time that never goes back, for rates and for how old something is.
  let steadyMs: @Sendable () -> UInt64

  package init(
    wallMs: @escaping @Sendable () -> Int64, steadyMs: @escaping @Sendable () -> UInt64
  ) {
    self.wallMs = wallMs
    self.steadyMs = steadyMs
  }

  /// The clocks of the system.
  package static let system = AccessClock(
    wallMs: { InstantText.nowMs() },
    steadyMs: {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    })
}
