internal import Model
internal import Redis
internal import Store

// The way into this lane's shard, for jobs that were added in another one.
extension Lane: ShardDoor {
  func isThere() async -> Bool { hasShard && isConnected }

  func add(_ jobs: [(text: [UInt8], priority: Priority)]) async -> [RedisError?] {
    guard hasShard else {
      return jobs.map { _ in .unavailable(reason: "its shard is not known yet") }
    }
    return await store.jobs.enqueue(jobs)
  }
}
