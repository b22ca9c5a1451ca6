internal import Model
internal import Redis
internal import Store

// The way into this lane's shard, for jobs that were added in another one.
extension Lane: ShardDoor {
  func add(
    _ jobs: [(text: [UInt8], priority: Priority)]
  ) async -> (count: Int, failure: RedisError?) {
    guard hasShard else { return (0, .unavailable(reason: "its shard is not known yet")) }
    for (number, job) in jobs.enumerated() {
      do throws(RedisError) {
        _ = try await store.jobs.enqueue(job.text, priority: job.priority)
      } catch { return (number, error) }
    }
    return (jobs.count, nil)
  }
}
