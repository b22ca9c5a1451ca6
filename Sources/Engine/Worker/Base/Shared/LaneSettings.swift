internal import Model
internal import PushpoolConfiguration
internal import Redis

/// The part of the configuration that a lane keeps for as long as it runs.
struct LaneSettings: Sendable {
  /// The process, as it beats.
  let worker: String
  /// The lane, as it owns leases.
  let consumer: String
  /// The shard that it serves, and no other.
  var shard = ShardID.only
  let prefix: String
  let redis: RedisEndpoint
  /// The risks of Redis that nobody is to be told of.
  var acceptedRisks: Set<RedisRisk> = []
  let leaseMs: UInt64
  let drainMs: UInt64
  let connectionsMax: Int
  let streamsMax: Int
  var connectionsKept = Int.max
  let requestTimeoutMs: UInt64
  /// The lane's number among those of the process for its shard.
  let number: Int
  /// Whether it does what one lane does for all of these: it watches the streams and the routes, moves delayed work on,
  /// clears away, and speaks of the machine.
  var isHousekeeper: Bool { number == 0 }
  /// Whether it sends jobs to few users from their entries.
  let sendsDirectly: Bool
  let shared: SharedParts
}
