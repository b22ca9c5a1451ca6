internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Synchronization

/// The shard in which each app lives, as the process holds to it. An app stays where it was when a later configuration names
/// another shard: its jobs and installations are still there. An app of Redis lives at home.
final class HeldPlacement: Sendable {
  private let held = Mutex<[String: ShardID]>([:])
  private let isSingle: Bool
  private let home: ShardID

  /// - Parameter shards: those that the process serves.
  init(_ shards: ShardList) {
    isSingle = shards.all.count == 1
    home = shards.home
  }

  /// Returns what the lanes of each shard go by from now on.
  /// - Parameter shards: in the order in which it is wanted.
  func snapshots(
    of configuration: Configuration, _ apps: ConfiguredApps, for shards: [ShardID]
  ) -> [WorkerSnapshot] {
    let homes = homes(of: configuration)
    // With one shard an app has no other place to be in.
    if isSingle, configuration.shards.all.count == 1 {
      return shards.map { _ in WorkerSnapshot(configuration, apps) }
    }
    return shards.map { WorkerSnapshot(configuration, apps, of: $0, by: homes, home: home) }
  }

  /// The shard of each app of a configuration, which is held from now on, also while no configuration has the app. A shard that
  /// the process does not serve waits for a restart.
  func homes(of configuration: Configuration) -> [String: ShardID] {
    let placement = configuration.placement
    return held.withLock { held in
      let homes = Dictionary(
        configuration.apps.map { ($0.id, held[$0.id] ?? placement[$0.id]) },
        uniquingKeysWith: { one, _ in one })
      held.merge(homes) { _, new in new }
      return homes
    }
  }
}
