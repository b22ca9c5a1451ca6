internal import Model
internal import Redis
internal import Synchronization

/// A lane of another shard, as whoever has a job for that shard asks it.
protocol ShardDoor: AnyObject, Sendable {
  /// Whether its Redis is connected and known to be its shard.
  func isThere() async -> Bool

  /// Epoch milliseconds by the clock of its Redis.
  func nowMs() async -> Int64

  /// Adds jobs to their streams, in one pipeline.
  /// - Returns: for each why it was not added, nil when it was. After an error that says so (`mayHaveHappened`) it may have been
  ///   all the same.
  func add(_ jobs: [(text: [UInt8], priority: Priority)]) async -> [RedisError?]
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
