internal import Logging
internal import Model
internal import Redis
internal import Store

/// Adds jobs of apps that live in other shards there, and ends them here: in this order, so that none is lost. Who dies in
/// between leaves a job that comes there a second time under its id, and so is sent once.
final class JobForwarder: Agent {
  private let context: LaneContext
  private let jobs: JobsElsewhere
  private let doors: ShardDoors
  /// Has jobs wait here for a worker with their app: their shard cannot be used.
  private let onAbsence: ([JobElsewhere]) async -> Void

  init(
    _ context: LaneContext, jobs: JobsElsewhere, doors: ShardDoors,
    onAbsence: @escaping ([JobElsewhere]) async -> Void
  ) {
    self.context = context
    self.jobs = jobs
    self.doors = doors
    self.onAbsence = onAbsence
  }

  func turn() async -> UInt64 {
    let batch = jobs.next()
    guard let first = batch.first else { return WorkerLimits.jobsElsewhereMs }
    let origin = context.settings.shard
    context.reasons.note(
      "jobs of \(first.app) are added in this shard, and it lives in \(first.shard.name): they are passed on; "
        + "have producers add them there")
    var added = 0
    if let door = doors.door(to: first.shard) {
      let answer = await door.add(
        batch.map { (text: $0.text(from: origin), priority: $0.entry.priority) })
      added = answer.count
      if let failure = answer.failure {
        context.reasons.note(
          failure, during: "adding jobs of \(first.app) in the shard \(first.shard.name)")
      }
    }
    await end(Array(batch.prefix(added)))
    if added < batch.count { await onAbsence(Array(batch.dropFirst(added))) }
    jobs.noteEnded()
    return jobs.areAny ? 0 : WorkerLimits.jobsElsewhereMs
  }

  /// Ends jobs here that are there. One that cannot be ended is taken again, and added there again under its id.
  private func end(_ batch: [JobElsewhere]) async {
    guard !batch.isEmpty else { return }
    let answers = await context.store.routes.handOver(
      batch.map { (entry: $0.entry, app: $0.app, id: $0.id) },
      consumer: context.settings.consumer)
    for (job, answer) in zip(batch, answers) {
      let metadata: Logger.Metadata = [
        "app": "\(job.app)", "job": "\(job.id)", "shard": "\(job.shard.name)",
      ]
      switch answer {
      case .success(true):
        context.log.info("job passed on to the shard of its app", metadata: metadata)
      case .success(false):
        context.log.notice("job passed on, and left to another worker", metadata: metadata)
      case .failure(let error): context.log.debug("passing on: \(error)", metadata: metadata)
      }
    }
  }
}
