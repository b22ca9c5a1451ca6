package import Model
package import Store

/// One shard of a fleet at one moment.
package struct ShardStanding: Sendable {
  package let shard: ShardID
  package let queues: QueueStatus
  /// Chunks that workers hold now.
  package let held: Int
  /// How its Redis is set up; nil of one that does not let itself be asked.
  package let redis: RedisSettings?

  /// Entries of all priorities that no worker has admitted.
  package var newJobs: Int { queues.jobs.values.reduce(0, +) }

  /// Chunks of all priorities that no worker holds.
  package var waiting: Int { max(0, queues.chunks.values.reduce(0, +) - held) }
}
