internal import Logging
internal import Reactor
internal import Store

/// The values that the parts of a lane share: where they run, what they ask, and whom they tell. Each is one object of the
/// lane; loop-bound.
struct LaneContext {
  let loop: EventLoop
  let store: ShardStore
  let settings: LaneSettings
  /// The part of the configuration that may change while the lane runs.
  let snapshot: LaneSnapshot
  let life: LaneLife
  let switches: SwitchWatch
  /// For what fails again and again.
  let reasons: ReasonLog
  let log: Logger
  /// Raised when there may be something to fetch, or room for more.
  let fetchSignal: LoopSignal

  var shared: SharedParts { settings.shared }
}
