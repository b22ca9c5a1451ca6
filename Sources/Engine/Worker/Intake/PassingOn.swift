internal import Model

/// The part of a lane that passes on jobs of apps that live in other shards. A fleet of one shard has none.
struct PassingOn {
  let jobs: JobsElsewhere
  /// One for each other shard.
  let forwarders: [JobForwarder]
  let leases: LeasesElsewhere

  init(_ context: LaneContext, admitter: Admitter, jobs: JobsElsewhere, doors: ShardDoors) {
    self.jobs = jobs
    forwarders = jobs.queues.map {
      JobForwarder(context, queue: $0, doors: doors, admitter: admitter)
    }
    leases = LeasesElsewhere(context, jobs: jobs)
  }
}
