internal import Model
internal import Redis
internal import Synchronization

/// A lane of another shard, as whoever has a job for that shard asks it.
protocol ShardDoor: AnyObject, Sendable {
  /// Adds jobs to their streams, in their order. The first failure ends it.
  /// - Returns: how many were added, and why no more; nil when all were. After `.connectionLost` and `.timeout` the next one
  ///   may have been added as well.
  func add(_ jobs: [(text: [UInt8], priority: Priority)]) async -> (
    count: Int, failure: RedisError?
  )
}

/// The shards of a fleet of several, and the ways to them from the lanes of one process. It keeps no lane alive.
final class ShardDoors: Sendable {
  private struct Door {
    weak var lane: (any ShardDoor)?
  }

  let shards: [ShardID]
  private let doors = Mutex<[ShardID: Door]>([:])

  init(_ shards: [ShardID]) { self.shards = shards }

  /// Leads to a shard by this lane from now on.
  func open(_ shard: ShardID, by lane: any ShardDoor) {
    doors.withLock { $0[shard] = Door(lane: lane) }
  }

  /// Returns the way to a shard; nil when no lane serves it.
  func door(to shard: ShardID) -> (any ShardDoor)? { doors.withLock { $0[shard]?.lane } }
}
