internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Adds jobs of apps that live in another shard there, and ends them here: in this order, so that none is lost. Who dies in
/// between leaves a job that comes there a second time under its id, and so is sent once.
///
/// While that shard takes none they are held with their leases, and wait then as jobs of an app that no worker has. From there one
/// lane takes them back when the shard is there again.
final class JobForwarder: Agent {
  let queue: QueueElsewhere
  private let context: LaneContext
  private let doors: ShardDoors
  private let admitter: Admitter
  /// How often no job was found that could be taken back.
  private var emptyLooks = 0
  /// The loop's clock and the fleet's, unless a test has others.
  var nowNs: () -> UInt64
  var clockMs: () -> Int64

  init(
    _ context: LaneContext, queue: QueueElsewhere, doors: ShardDoors, admitter: Admitter
  ) {
    self.context = context
    self.queue = queue
    self.doors = doors
    self.admitter = admitter
    nowNs = { [loop = context.loop] in loop.nowNs }
    clockMs = { [clock = context.shared.clock] in clock.nowMs }
  }

  func turn() async -> UInt64 {
    let batch = queue.next()
    guard let first = batch.first else { return await takeBack() }
    context.reasons.note(
      "jobs of \(first.app) are added in this shard, and it lives in \(queue.shard.name): they are passed on; "
        + "have producers add them there")
    let found = await look(at: batch)
    let (ending, others, failure) = await add(found.moving)
    let left = await end(ending)
    if !found.paused.isEmpty { await admitter.keepHere(found.paused) }
    queue.settle(
      kept: left + others + found.unknown, isOpen: failure == nil && found.unknown.isEmpty)
    if let failure {
      context.reasons.note(
        failure, during: "adding jobs of \(first.app) in the shard \(queue.shard.name)")
      let overdue = queue.removeOverdue(nowNs: nowNs())
      if !overdue.isEmpty { await admitter.keepHere(overdue) }
    }
    // Jobs that come meanwhile must not have it tried at once.
    if failure != nil || !left.isEmpty || !found.unknown.isEmpty {
      await context.loop.sleep(ms: WorkerLimits.elsewherePauseMs)
    }
    return 0
  }

  /// Heeds what operators have said of the jobs here: one that is cancelled is only to be ended, and one that is paused stays.
  /// A job that may be in its shard by now is cancelled and paused there.
  /// - Returns: besides, those of which it could not be read: none of them is added.
  private func look(
    at batch: [JobElsewhere]
  ) async -> (moving: [JobElsewhere], paused: [JobElsewhere], unknown: [JobElsewhere]) {
    let waiting = batch.filter { $0.standing == .waits }
    guard !waiting.isEmpty else { return (batch, [], []) }
    var moving = batch.filter { $0.standing != .waits }
    let states: [JobState?]
    do throws(RedisError) {
      states = try await context.store.routes.states(
        of: waiting.map { (entry: $0.entry, app: $0.app, id: $0.id) })
    } catch {
      context.reasons.note(error, during: "reading what is said of jobs of another shard")
      return (moving, [], waiting)
    }
    var paused: [JobElsewhere] = []
    for (job, state) in zip(waiting, states) {
      var job = job
      if state == .cancelled { job.standing = .isOver }
      if state == .paused { paused.append(job) } else { moving.append(job) }
    }
    return (moving, paused, [])
  }

  /// Adds those that are not known to be there.
  /// - Returns: those that are to be ended here, the others, and why one could not be added.
  private func add(
    _ batch: [JobElsewhere]
  ) async -> (ending: [JobElsewhere], others: [JobElsewhere], failure: RedisError?) {
    var ending = batch.filter { $0.standing == .isThere || $0.standing == .isOver }
    let added = batch.filter { $0.standing == .waits || $0.standing == .mayBeThere }
    guard !added.isEmpty else { return (ending, [], nil) }
    guard let door = doors.door(to: queue.shard) else {
      return (ending, added, .unavailable(reason: "no lane serves its shard"))
    }
    let origin = context.settings.shard
    let nowMs = clockMs()
    let aheadMs = JobElsewhere.clockDifference(thereMs: await door.nowMs(), hereMs: nowMs)
    let texts = added.map { $0.text(from: origin, nowMs: nowMs, aheadMs: aheadMs) }
    let answers = await door.add(
      zip(texts, added).map { (text: $0, priority: $1.entry.priority) })
    var others: [JobElsewhere] = []
    var failure: RedisError?
    for (index, error) in answers.enumerated() {
      var job = added[index]
      if let error {
        if error.mayHaveHappened {
          job.standing = .mayBeThere
          job.added = texts[index]
        }
        others.append(job)
        failure = failure ?? error
      } else {
        job.standing = .isThere
        ending.append(job)
      }
    }
    return (ending, others, failure)
  }

  /// Ends jobs here that are there, or were cancelled. - Returns: those of which it is not known.
  private func end(_ batch: [JobElsewhere]) async -> [JobElsewhere] {
    guard !batch.isEmpty else { return [] }
    let answers = await context.store.routes.handOver(
      batch.map { (entry: $0.entry, app: $0.app, id: $0.id) },
      consumer: context.settings.consumer,
      retentionSeconds: context.snapshot.rules.retention.usual.manySeconds)
    var left: [JobElsewhere] = []
    for (job, answer) in zip(batch, answers) {
      let metadata: Logger.Metadata = [
        "app": "\(job.app)", "job": "\(job.id)", "shard": "\(job.shard.name)",
      ]
      switch answer {
      case .success(true) where job.standing == .isOver:
        context.log.info("job ended: it was cancelled", metadata: metadata)
      case .success(true):
        context.log.info("job passed on to the shard of its app", metadata: metadata)
      case .success(false):
        context.log.notice("job passed on, and left to another worker", metadata: metadata)
      case .failure(let error):
        context.log.debug("passing on: \(error)", metadata: metadata)
        left.append(job)
      }
    }
    return left
  }

  /// Takes back what waits here as jobs of an app that no worker has: while the shard is not known to take jobs, one.
  private func takeBack() async -> UInt64 {
    guard context.settings.isHousekeeper else { return WorkerLimits.jobsElsewhereMs }
    guard context.shared.routes.isAnythingWaiting, let door = doors.door(to: queue.shard),
      await door.isThere()
    else { return WorkerLimits.strayLookMs }
    let elsewhere = context.snapshot.current.elsewhere
    do throws(RedisError) {
      let apps = try await context.store.routes.unrouted().filter {
        elsewhere[$0] == queue.shard
      }
      guard !apps.isEmpty else { return WorkerLimits.strayLookMs }
      let entries = try await context.store.routes.takeJobs(
        consumer: context.settings.consumer, of: apps,
        max: queue.isOpen ? WorkerLimits.jobsElsewhereAtOnceMax : 1, pass: emptyLooks)
      if entries.isEmpty { emptyLooks += 1 }
      try await admitter.admit(entries)
      return entries.isEmpty ? WorkerLimits.strayLookMs : 0
    } catch {
      context.reasons.note(error, during: "taking jobs of another shard back")
      return WorkerLimits.strayLookMs
    }
  }
}
