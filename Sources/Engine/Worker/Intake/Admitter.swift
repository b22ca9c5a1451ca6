internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Redis
internal import Store

/// Turns producers' entries into jobs: checks them, sees that they fit every network, cuts the audience
/// into segments, and starts them. To see that they fit, it renders all that is not short and plain.
/// What cannot be admitted becomes a dead letter that names the field. Loop-bound.
struct Admitter {
  let context: LaneContext
  let materials: MaterialStore
  let large: LargeJobs
  /// Nil in a fleet of one shard.
  let elsewhere: JobsElsewhere?
  let direct: DirectStarter
  let directCarrier: DirectCarrier

  /// The result of taking jobs in.
  struct Yield: Equatable {
    enum Amount {
      case nothing
      /// Less than was asked for: nothing is left that may be taken now.
      case all
      case maybeMore
    }

    var amount = Amount.nothing
    /// Whether silent workers had left some of it, and may have left more: of those a call brings few.
    var hasAbandoned = false
  }

  /// Takes in what producers have enqueued.
  /// - Parameters:
  ///   - last: the lowest priority to take.
  ///   - abandonedForMs: also what workers left half admitted that were silent for so long.
  func admitNext(
    downTo last: Priority = .low, abandonedForMs: UInt64?
  ) async throws(RedisError) -> Yield {
    let refused = RefusalLog(log: context.log)
    direct.lookHowFar()
    let max = direct.jobsWanted(downTo: last)
    var early = 0
    var hasAbandoned = false
    var large: [JobEntry] = []
    var refusedByRedis = AdmissionFailures()
    let entries = try await context.store.jobs.take(
      consumer: context.settings.consumer, max: max, downTo: last, abandonedForMs: abandonedForMs,
      leavesLarge: self.large.isFull, onRefusal: refused.note,
      onTakeOver: { hasAbandoned = true },
      beforeReading: { entries throws(RedisError) in
        early += entries.count
        // Those wait for one another, and the others are still to be read.
        large += entries.filter(isLarge)
        try await admit(entries.filter { !isLarge($0) }, &refusedByRedis)
      })
    refused.conclude()
    try await admit(large + entries, &refusedByRedis)
    try refusedByRedis.conclude(of: early + entries.count, context.reasons)
    guard !entries.isEmpty || early > 0 || refused.count > 0 else {
      return Yield(hasAbandoned: hasAbandoned)
    }
    // Of large ones a call brings fewer than it was asked for.
    let isAll =
      refused.count == 0 && large.isEmpty && !entries.contains(where: isLarge)
      && early + entries.count < max
    return Yield(amount: isAll ? .all : .maybeMore, hasAbandoned: hasAbandoned)
  }

  /// Takes in what the consumer was leased and does not know of. - Returns: whether there was any.
  func admitUnanswered() async throws(RedisError) -> Bool {
    guard !large.isAbandoned else { return false }
    let refused = RefusalLog(log: context.log)
    let entries = try await context.store.jobs.takeUnanswered(
      consumer: context.settings.consumer, max: max(WorkerLimits.admissionsMax, direct.room.jobs),
      inHand: large.inHand + direct.inHand + (elsewhere?.inHand ?? []),
      onRefusal: refused.note)
    refused.conclude()
    try await admit(entries)
    return !entries.isEmpty || refused.count > 0
  }

  /// Takes in jobs that were leased; large ones later.
  func admit(_ entries: [JobEntry]) async throws(RedisError) {
    var refused = AdmissionFailures()
    try await admit(entries, &refused)
    try refused.conclude(of: entries.count, context.reasons)
  }

  private func admit(
    _ entries: [JobEntry], _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    // After a silence of its own the lane may be given what it is sending, or has for another shard.
    let small = entries.filter {
      !isLarge($0) && !direct.isSending($0) && elsewhere?.has($0) != true
    }
    var atOnce: DirectStarter.Batch = []
    var others: DirectStarter.Batch = []
    var turnedAway: [TurnedAway] = []
    var room = direct.room
    for entry in small {
      switch await prepare(entry) {
      case .job(let job):
        let own = DirectJob(entry: entry, admission: admission(of: job, entry))
        if direct.takes(job, own, &room) {
          atOnce.append((job, own))
        } else {
          others.append((job, own))
        }
      case .turnedAway(let job): turnedAway.append(job)
      }
    }
    // Each kind is carried on with whatever becomes of the others.
    var failure: RedisError?
    do throws(RedisError) {
      if !atOnce.isEmpty { try await beginAll(atOnce, &refused) }
    } catch { failure = error }
    do throws(RedisError) {
      try await startAll(others, &refused)
    } catch { failure = failure ?? error }
    // Last: nobody's push waits for them.
    do throws(RedisError) {
      try await turnAway(turnedAway, &refused)
    } catch { failure = failure ?? error }
    for entry in entries where isLarge(entry) && elsewhere?.has(entry) != true {
      await large.add(entry)
    }
    if let failure { throw failure }
  }

  /// Takes in a job that came by `large`; may be repeated after an error.
  func admitLarge(_ entry: JobEntry) async throws(RedisError) {
    // It has waited, perhaps for longer than its lease.
    guard
      try await context.store.jobs.heartbeat([entry], consumer: context.settings.consumer) == [.ok]
    else { return try await leave(entry) }
    switch await prepare(entry) {
    case .job(let job):
      try await start(job, admission(of: job, entry), entry)
      context.fetchSignal.raise()
    case .turnedAway(let job):
      var refused = AdmissionFailures()
      try await turnAway([job], &refused)
      if let error = refused.first { throw error }
    }
  }

  /// Leaves a job to whom its entry is leased, if there is somebody.
  func leave(_ entry: JobEntry) async throws(RedisError) {
    guard case .job(let job) = await prepare(entry) else { return }
    try await conclude(entry, admission(of: job, entry), .stale)
  }

  private func isLarge(_ entry: JobEntry) -> Bool {
    entry.text.count > WorkerLimits.smallJobBytesMax
  }

  private enum Prepared {
    case job(PreparedJob)
    case turnedAway(TurnedAway)
  }

  /// Checks a job.
  private func prepare(_ entry: JobEntry) async -> Prepared {
    var job: PreparedJob
    do throws(RefusedJob) {
      job = isLarge(entry) ? try await .beside(entry.text) : try PreparedJob(entry.text)
    } catch {
      return .turnedAway(.refused(entry, .invalid(error.field, app: error.app, id: error.id)))
    }
    let id = job.id ?? entry.source
    guard context.snapshot.routes.has(job.app) else {
      if let shard = context.snapshot.current.elsewhere[job.app] {
        return .turnedAway(
          turnAway(
            JobElsewhere(
              entry: entry, app: job.app, id: id, hasOwnID: job.id != nil, shard: shard,
              expiresAtMs: expiresAtMs(job, entry))))
      }
      return .turnedAway(
        .unknownApp(
          JobOfUnknownApp(
            entry: entry, app: job.app, id: id,
            suggestion: context.shared.routes.suggestion(
              for: job.app, besides: context.snapshot.routes),
            expiresAtMs: expiresAtMs(job, entry))))
    }
    do throws(InvalidField) { job = try await schedule(job, entry) } catch {
      return .turnedAway(.refused(entry, .invalid(error, app: job.app, id: id)))
    }
    if let fault = unsendable(job, textBytes: entry.text.count) {
      guard fault.isOfNetworks, await mayOthersSend(job) else {
        return .turnedAway(.refused(entry, .invalid(fault.field, app: job.app, id: id)))
      }
    }
    return .job(job)
  }

  /// When a job expires that nobody admits. "Now or never" is for the network: such a job does not.
  private func expiresAtMs(_ job: PreparedJob, _ entry: JobEntry) -> Int64? {
    guard let expiry = job.content.expiry, expiry != .ttl(seconds: 0) else { return nil }
    let nowMs = context.shared.clock.at(context.loop.nowNs)
    return expiry.expiresAtMs(createdAtMs: entry.enqueuedAtMs(nowMs: nowMs) ?? nowMs)
  }

  /// Decides when a job starts that goes by the clocks of its receivers.
  private func schedule(
    _ job: PreparedJob, _ entry: JobEntry
  ) async throws(InvalidField) -> PreparedJob {
    guard let delivery = job.deliverLocal else { return job }
    let nowMs = context.shared.clock.at(context.loop.nowNs)
    let schedule = try await context.shared.localTimes.schedule(
      delivery, appZone: context.snapshot.rules.timeZones[job.app],
      nowMs: entry.enqueuedAtMs(nowMs: nowMs) ?? nowMs)
    try schedule.check(job.content.expiry)
    return PreparedJob(job, keepingTo: schedule)
  }

  /// Why no device should be tried: a network's limit is passed, or nothing can be sent at all.
  /// - Returns: the field, and whether it is that this worker has no network to send to.
  private func unsendable(
    _ job: PreparedJob, textBytes: Int
  ) -> (field: InvalidField, isOfNetworks: Bool)? {
    let nowMs = context.shared.clock.at(context.loop.nowNs)
    if let atMs = job.deliverAtMs, atMs - nowMs > Limits.deliverAheadMsMax {
      let field = InvalidField(
        pointer: "/deliver_at",
        message: "is more than 365 days ahead: keep the job, and enqueue it when it is nearer")
      return (field, false)
    }
    let check = context.snapshot.directory.check(
      job.content, textBytes: textBytes, app: job.app, nowMs: nowMs)
    switch check {
    case .sendable: return nil
    case .refused(let field): return (field, false)
    case .empty(let field): return field.map { ($0, true) }
    }
  }

  /// Whether another worker can send the job to a network that this one has no credentials for.
  private func mayOthersSend(_ job: PreparedJob) async -> Bool {
    let fleet = context.shared.routes
    if fleet.mustLook(at: job.app),
      let places = try? await context.store.routes.redisApps([job.app])
    {
      fleet.note(shared: [job.app], places: places)
    }
    return Network.allCases.contains { network in
      job.content.isFor(network)
        && job.content.environments.contains { environment in
          !context.snapshot.routes.has(job.app, network, environment)
            && fleet.othersHave(job.app, network, environment) ?? true
        }
    }
  }

  /// Without the content, which a job that is sent from its entry seldom needs.
  private func admission(of job: PreparedJob, _ entry: JobEntry) -> Admission {
    var admission = Admission(
      app: job.app, id: job.id ?? entry.source, digest: job.digest, content: [],
      audience: Admission.Audience(
        lines: job.lines, recipients: job.recipients, segments: job.segments.count,
        usersKey: job.usersKey, index: job.index), variablesKey: job.content.variablesKey,
      timing: Admission.Timing(startAtMs: job.deliverAtMs),
      loopGuard: Admission.LoopGuard(
        bucket: job.content.event?.bucketID,
        eventsPerMinute: context.snapshot.rules.eventsPerMinute[job.app] ?? 0))
    admission.timing.pace = job.pace
    admission.timing.livesSeconds = job.livesSeconds
    admission.timing.roundsAtMs = job.content.schedule?.rounds.map(\.atMs) ?? []
    let spans = context.snapshot.rules.retention[job.app].spans(
      hasID: job.id != nil, receivers: job.receivers, ownSeconds: job.retentionSeconds,
      isTraced: job.content.trace)
    admission.retention.seconds = spans.wellSeconds
    admission.retention.otherwiseSeconds = spans.otherwiseSeconds
    admission.retention.keepsContent = job.content.tellsOfReceivers
    let bytes = job.segments.reduce(0) { $0 + $1.count }
    if job.segments.count == 1 || bytes <= WorkerLimits.admittedSegmentsBytesMax {
      admission.audience.texts = job.segments
    }
    return admission
  }

  /// Makes chunks of jobs, of several in one trip.
  private func startAll(
    _ jobs: DirectStarter.Batch, _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    guard !jobs.isEmpty else { return }
    defer { context.fetchSignal.raise() }
    for first in stride(from: 0, to: jobs.count, by: WorkerLimits.admittedAtOnceMax) {
      let end = min(first + WorkerLimits.admittedAtOnceMax, jobs.count)
      var told: [StartingJob] = []
      for (job, own) in jobs[first..<end] {
        do throws(RedisError) {
          if let starting = try await prepareStart(job, own.admission, own.entry) {
            told.append(starting)
          }
        } catch { try refused.note(error, own.entry) }
      }
      try await start(told, isLast: end == jobs.count, &refused)
    }
  }

  /// Makes chunks of a job.
  func start(
    _ job: PreparedJob, _ admission: Admission, _ entry: JobEntry
  ) async throws(RedisError) {
    guard let starting = try await prepareStart(job, admission, entry) else { return }
    var refused = AdmissionFailures()
    try await start([starting], isLast: true, &refused)
    if let error = refused.first { throw error }
  }

  /// A job that only its admission keeps from being one.
  private typealias StartingJob = (job: PreparedJob, entry: JobEntry, admission: Admission)

  /// Uploads the segments of a job with more text than its admission tells.
  /// - Returns: nil when it is not to be admitted.
  private func prepareStart(
    _ job: PreparedJob, _ admission: Admission, _ entry: JobEntry
  ) async throws(RedisError) -> StartingJob? {
    var admission = admission
    admission.content = job.content.canonicalBytes()
    guard !job.segments.isEmpty, admission.audience.texts.isEmpty else {
      return (job, entry, admission)
    }
    let answer = try await context.store.jobs.reserve(
      entry, app: job.app, id: admission.id, digest: job.digest, consumer: context.settings.consumer
    )
    switch answer {
    case .new where try await upload(job.segments, entry), .cancelled:
      return (job, entry, admission)
    case .new: try await conclude(entry, admission, .stale)
    default: try await conclude(entry, admission, answer)
    }
    return nil
  }

  /// - Parameter isLast: whether no other is to come, so that the chunks can be claimed.
  private func start(
    _ jobs: [StartingJob], isLast: Bool, _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    let bindings = FirstBindings.read(
      jobs.map(\.job), within: .admitted, store: context.store, loop: context.loop)
    if isLast { context.fetchSignal.raise() }
    let answers = await context.store.jobs.admit(
      jobs.map { ($0.entry, $0.admission) }, consumer: context.settings.consumer)
    // What one came to is no reason to forget what Redis said of the others.
    var failure: RedisError?
    for (index, (job, entry, admission)) in jobs.enumerated() {
      do throws(RedisError) {
        let answer = try answers[index].get()
        // What starts later may be told another start until then, by which it expires.
        if answer == .admitted, job.deliverAtMs == nil,
          let createdAtMs = entry.enqueuedAtMs(
            nowMs: context.shared.clock.at(context.loop.nowNs))
        {
          materials.add(
            job.content, contentBytes: admission.content.count, createdAtMs: createdAtMs,
            app: job.app,
            source: entry.source, id: admission.id, digest: admission.digest,
            firstBindings: bindings[index])
        }
        try await conclude(entry, admission, answer)
      } catch {
        do throws(RedisError) { try refused.note(error, entry) } catch {
          failure = failure ?? error
        }
      }
    }
    if let failure { throw failure }
  }
}
