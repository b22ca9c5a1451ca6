internal import Configuration
internal import Model
internal import Redis

/// What a lane needs to know of the configuration.
struct LaneSettings: Sendable {
  /// The process, as it beats.
  let worker: String
  /// The lane, as it owns leases.
  let consumer: String
  let prefix: String
  let redis: RedisEndpoint
  let apps: Set<String>
  let leaseMs: UInt64
  let drainMs: UInt64
  let connectionsMax: Int
  let streamsMax: Int
  let requestTimeoutMs: UInt64
  /// Whether this lane also promotes delayed work and audits: one of each process does.
  let promotes: Bool
  /// Shared by the lanes of a process.
  let suspects: SuspectPlace
}
