package import Model
package import Store

/// One shard of a fleet at one moment.
package struct ShardStanding: Sendable {
  package let shard: ShardID
  /// The clock of its Redis, epoch milliseconds, in whole seconds.
  package let nowMs: Int64
  package let queues: QueueStatus
  /// Chunks of each priority that workers hold now; of some maybe none.
  let held: [Priority: Int]
  /// How its Redis is set up; nil of one that does not let itself be asked.
  package let redis: RedisSettings?

  /// Entries of all priorities that no worker has admitted.
  package var newJobs: Int { queues.jobs.values.reduce(0, +) }

  /// Chunks of all priorities that no worker holds.
  package var waiting: Int { max(0, queues.chunks.values.reduce(0, +) - inWork) }

  /// Chunks of all priorities that workers hold.
  package var inWork: Int { held.values.reduce(0, +) }

  /// Chunks of a priority that no worker holds.
  package func waiting(_ priority: Priority) -> Int {
    max(0, (queues.chunks[priority] ?? 0) - (held[priority] ?? 0))
  }

  /// Whether there is nothing to do of a priority.
  /// - Parameter countsWork: whether what workers hold is something to do.
  package func isEmpty(_ priority: Priority, countsWork: Bool) -> Bool {
    (queues.jobs[priority] ?? 0) + waiting(priority) == 0
      && (!countsWork || held[priority] ?? 0 == 0)
  }
}
