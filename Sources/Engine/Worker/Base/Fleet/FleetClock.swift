internal import Glibc
package import Providers
internal import Synchronization

/// The time by which a worker judges expiries and dates tokens: Redis's, so that all workers of a fleet go by one
/// clock, and a machine's wrong one harms nobody.
///
/// Between two readings it runs with CLOCK_BOOTTIME, which is never set and goes on in suspend. Each lane learns the
/// difference when it connects, before it judges anything, and the process once a second.
package final class FleetClock: Sendable {
  private struct State {
    var offset = ClockOffset()
  }

  private let state = Mutex(State())
  /// Milliseconds from CLOCK_BOOTTIME to Redis's clock; read for each push.
  private let offsetMs: Atomic<Int64>
  /// The clock of this machine.
  private let own: WallClock

  package init(own: WallClock = .system) {
    self.own = own
    offsetMs = Atomic(own.nowMs() - Self.milliseconds(Self.bootNs()))
  }

  /// Epoch milliseconds by Redis's clock; by this machine's until Redis's was read first.
  package var nowMs: Int64 { at(Self.bootNs()) }

  /// Epoch milliseconds by Redis's clock at an instant of an event loop.
  func at(_ loopNs: UInt64) -> Int64 {
    Self.milliseconds(loopNs) &+ offsetMs.load(ordering: .relaxed)
  }

  /// How far this machine's clock is ahead of Redis's, negative when it is behind; 0 until that is known.
  package var aheadMs: Int64 {
    state.withLock { $0.offset.isKnown } ? own.nowMs() - nowMs : 0
  }

  /// For sources of credentials: tokens are dated by Redis's clock.
  package var wallClock: WallClock {
    WallClock(nowMs: { self.nowMs }, aheadMs: { self.aheadMs })
  }

  /// Takes a reading of Redis's clock.
  /// - Parameters:
  ///   - sentNs: when it was asked for, by an event loop's clock.
  ///   - receivedNs: when the answer was there.
  func learn(serverMs: Int64, sentNs: UInt64, receivedNs: UInt64) {
    state.withLock { state in
      state.offset.learn(
        serverMs: serverMs, sentMs: Self.milliseconds(sentNs),
        receivedMs: Self.milliseconds(receivedNs))
      if state.offset.isKnown { offsetMs.store(state.offset.ms, ordering: .relaxed) }
    }
  }

  /// Milliseconds since this machine was started, for what lasts; never set.
  static var uptimeMs: Int64 { milliseconds(bootNs()) }

  private static func milliseconds(_ ns: UInt64) -> Int64 { Int64(ns / 1_000_000) }

  /// Nanoseconds of CLOCK_BOOTTIME, in which event loops count.
  private static func bootNs() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
