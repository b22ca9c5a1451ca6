internal import Reactor

/// The time of a lane, as its loop reads it: asked for each push, so without a system call.
struct LaneClock {
  let loop: EventLoop
  let fleet: FleetClock

  /// The loop's time.
  var nowNs: UInt64 { loop.nowNs }
  /// Epoch milliseconds by Redis's clock.
  var wallMs: Int64 { fleet.at(loop.nowNs) }
}
