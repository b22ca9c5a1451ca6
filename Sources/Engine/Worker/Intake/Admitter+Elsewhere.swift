internal import Model
internal import Redis
internal import Store

// What becomes of a job whose app lives in another shard.
extension Admitter {
  /// Whether it is passed on, or refused since it has no room for the id that it needs there.
  func turnAway(_ job: JobElsewhere) -> TurnedAway {
    guard
      let id = job.givenID(from: context.settings.shard),
      job.entry.text.count + JobElsewhere.bytes(ofMember: id) > Limits.jobBytesMax
    else { return .elsewhere(job) }
    let field = InvalidField(
      pointer: "/id",
      message:
        "is missing, and the job is too large to be given one: \(job.app) lives in the shard "
        + "\(job.shard.name); add the job there, or give it an id")
    return .refused(job.entry, .invalid(field, app: job.app, id: job.id))
  }

  /// Has jobs wait here, as those of apps that no worker has: the shard in which their apps live cannot be used.
  func keepHere(_ jobs: [JobElsewhere]) async {
    var refused = AdmissionFailures()
    do throws(RedisError) {
      let origin = context.settings.shard
      try await turnAway(
        jobs.map { .unknownApp(JobOfUnknownApp($0, from: origin)) }, &refused)
      try refused.conclude(of: jobs.count, context.reasons)
    } catch { context.reasons.note(error, during: "keeping jobs of another shard") }
  }
}
