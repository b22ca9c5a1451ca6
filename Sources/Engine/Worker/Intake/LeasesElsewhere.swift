internal import Redis
internal import Store

/// Renews the leases of jobs that wait to be added in other shards.
final class LeasesElsewhere: Agent {
  private let context: LaneContext
  private let jobs: JobsElsewhere

  init(_ context: LaneContext, jobs: JobsElsewhere) {
    self.context = context
    self.jobs = jobs
  }

  func turn() async -> UInt64 {
    do throws(RedisError) { try await renew() } catch {
      context.reasons.note(error, during: "renewing the leases of jobs of other shards")
      return WorkerLimits.redisPauseMs
    }
    return max(context.settings.leaseMs / 4, WorkerLimits.redisPauseMs)
  }

  private func renew() async throws(RedisError) {
    let entries = jobs.inHand
    for first in stride(from: 0, to: entries.count, by: WorkerLimits.leasesElsewhereMax) {
      let some = Array(entries[first..<min(first + WorkerLimits.leasesElsewhereMax, entries.count)])
      let standings = try await context.store.jobs.heartbeat(
        some, consumer: context.settings.consumer)
      for (entry, standing) in zip(some, standings) where standing != .ok { jobs.drop(entry) }
    }
  }
}
