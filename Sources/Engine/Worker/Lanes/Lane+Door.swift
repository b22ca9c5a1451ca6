internal import Model
internal import Redis
internal import Store

// The way into this lane's shard, for jobs that were added in another one.
extension Lane: ShardDoor {
  /// The answer to whoever asks a lane for something of its shard before it knows that its Redis is that shard.
  static let ofUnknownShard = RedisError.unavailable(
    reason: "it is not known yet which shard it is")

  func isThere() async -> Bool { hasShard && isConnected }

  func nowMs() async -> Int64 { settings.shared.clock.nowMs }

  func add(_ jobs: [(text: [UInt8], priority: Priority)]) async -> [RedisError?] {
    guard hasShard else { return jobs.map { _ in Self.ofUnknownShard } }
    return await store.jobs.enqueue(jobs)
  }
}
