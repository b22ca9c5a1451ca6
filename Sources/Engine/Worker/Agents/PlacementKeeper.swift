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
  private var told: Told?
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
    // Each change of an app of Redis makes a new snapshot.
    if told?.snapshot !== current, told?.isSaid(current) == true { told?.snapshot = current }
    if let told, told.snapshot === current, nowMs - told.atMs < told.intervalMs(nowMs) {
      return WorkerLimits.placementLookMs
    }
    let next = Told(current, nowMs, after: told)
    do throws(RedisError) {
      let changed = try await store.keep(
        elsewhere: next.elsewhere.mapValues(\.name), here: Array(next.here))
      // Of one that has changed itself nothing else is to be expected, nor while workers are restarted with another configuration.
      if let told, !next.isNew(nowMs),
        let app = changed.first(where: { told.saysSame($0, as: next) })
      {
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
      told = next
      return WorkerLimits.placementLookMs
    } catch {
      // A server that refuses does so for a while.
      reasons.note(error, during: "saying where apps live")
      return WorkerLimits.placementLookMs
    }
  }
}

/// A telling of where apps live, by one worker.
private struct Told {
  var snapshot: WorkerSnapshot
  let elsewhere: [String: ShardID]
  let here: Set<String>
  /// Since when it says the same of the apps that live elsewhere, and when it said so last, by `FleetClock.uptimeMs`.
  let sinceMs: Int64
  let atMs: Int64

  init(_ snapshot: WorkerSnapshot, _ nowMs: Int64, after last: Told?) {
    self.snapshot = snapshot
    elsewhere = snapshot.elsewhere.named
    here = Set(snapshot.routes.apps)
    sinceMs = last.flatMap { $0.elsewhere == snapshot.elsewhere.named ? $0.sinceMs : nil } ?? nowMs
    atMs = nowMs
  }

  func isSaid(_ current: WorkerSnapshot) -> Bool {
    elsewhere == current.elsewhere.named && here == Set(current.routes.apps)
  }

  func saysSame(_ app: String, as other: Told) -> Bool {
    elsewhere[app] == other.elsewhere[app] && here.contains(app) == other.here.contains(app)
  }

  /// Whether others may still go by the configuration of before, and say so.
  func isNew(_ nowMs: Int64) -> Bool { nowMs - sinceMs < WorkerLimits.placementNewMs }

  func intervalMs(_ nowMs: Int64) -> Int64 {
    isNew(nowMs) ? WorkerLimits.placementSoonMs : WorkerLimits.placementMs
  }
}
