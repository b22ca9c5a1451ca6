internal import Model
internal import Reactor
internal import Store

/// The jobs that a lane has for other shards, a queue for each; loop-bound. A shard that is away holds up nothing but its own.
final class JobsElsewhere {
  let queues: [QueueElsewhere]
  private let loop: EventLoop

  /// - Parameter shards: the other ones.
  init(loop: EventLoop, shards: [ShardID]) {
    self.loop = loop
    queues = shards.map { QueueElsewhere($0, loop: loop) }
  }

  /// - Returns: false when there is no room for it. Intake does not wait for any: what has none waits in Redis.
  func take(_ job: JobElsewhere) -> Bool {
    guard let queue = queues.first(where: { $0.shard == job.shard }) else { return false }
    var job = job
    job.sinceNs = loop.nowNs
    return queue.add(job)
  }

  func has(_ entry: JobEntry) -> Bool { queues.contains { $0.has(entry) } }

  /// Leaves an entry to whom it was leased anew.
  func drop(_ entry: JobEntry) {
    for queue in queues { queue.drop(entry) }
  }

  /// All that is leased to this lane and is not ended.
  var inHand: [JobEntry] { queues.flatMap(\.inHand) }
}
