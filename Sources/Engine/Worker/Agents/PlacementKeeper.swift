internal import Logging
internal import Model
internal import Redis
internal import Store

/// Says in a shard which apps live in another one, so that nobody registers devices of theirs where they get nothing; and at home
/// which shards there are. In a fleet of one shard there is none.
final class PlacementKeeper: Agent {
  private let store: PlacementStore
  private let snapshot: LaneSnapshot
  /// All shards of the fleet, for the home's; nil for that of another shard.
  private let shards: [ShardID]?
  private let clock: FleetClock
  private let reasons: ReasonLog
  /// The last snapshot that was told, and when, by `FleetClock.uptimeMs`.
  private var told: (snapshot: WorkerSnapshot, atMs: Int64)?
  /// `FleetClock.uptimeMs`, unless a test has another.
  var nowMs: () -> Int64 = { FleetClock.uptimeMs }

  init(_ context: LaneContext, of shards: [ShardID]?) {
    store = context.store.placement
    snapshot = context.snapshot
    self.shards = shards
    clock = context.shared.clock
    reasons = context.reasons
  }

  func turn() async -> UInt64 {
    let current = snapshot.current
    let nowMs = nowMs()
    if let told, told.snapshot === current, nowMs - told.atMs < WorkerLimits.placementMs {
      return WorkerLimits.placementLookMs
    }
    do throws(RedisError) {
      let changed = try await store.keep(
        elsewhere: current.elsewhere.named.mapValues(\.name), here: current.routes.apps)
      // Of one that has changed itself nothing else is to be expected.
      if told?.snapshot === current, let app = changed.first {
        reasons.note(
          "workers of this fleet have configurations that disagree where \(app) lives: each says so anew, and devices "
            + "are registered now here, now there. Give all of them the same apps[].shard, and restart them",
          level: .error)
      }
      if let shards {
        for name in try await store.missing(in: shards.map(\.name), nowMs: clock.nowMs) {
          reasons.note(
            "the fleet had a shard \(FieldPointer.printable(name)), and redis.shards does not list it: what waits "
              + "there is not sent, and its devices get nothing. Put it back; or when it is empty, take it out "
              + "of the HASH of shards (docs/reference/redis.md, Shards)", level: .error)
        }
      }
      told = (current, nowMs)
      return WorkerLimits.placementLookMs
    } catch {
      // A server that refuses does so for a while.
      reasons.note(error, during: "saying where apps live")
      return WorkerLimits.placementLookMs
    }
  }
}
