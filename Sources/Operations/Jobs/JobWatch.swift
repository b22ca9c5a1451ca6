internal import Model
internal import Reactor
internal import Redis
package import Store

/// Follows one enqueued job to its end, in the shard to which it was added: another may have an equal entry.
package struct JobWatch {
  private let job: EnqueuedJob
  private let stores: [ShardStore]
  /// The store of the job's shard; nil when it is none of the stores.
  private let store: ShardStore?

  /// - Parameter stores: of all shards, for what keeps the job from going on.
  package init(job: EnqueuedJob, stores: [ShardStore]) {
    self.job = job
    self.stores = stores
    store = stores.of(job.shard)
  }

  /// Looks again and again until the job has ended. It changes nothing of the job, which goes on however the watch ends.
  /// - Parameters:
  ///   - patience: asked between two looks whether to go on.
  ///   - report: told what each look found, the last one included.
  ///   - onStandstill: told what keeps the job from going on while nothing moves.
  /// - Returns: what the last look found.
  /// - Throws: `.redis`, `.stopped`.
  package func follow(
    _ patience: Patience, report: (JobSighting) -> Void,
    onStandstill: ([JobHindrance]) -> Void = { _ in }
  ) async throws(OperationError) -> JobSighting {
    var standstill = Standstill()
    var isDuplicate = false
    while true {
      let sighting = try await isDuplicate ? lookAtEarlier(patience) : look(patience)
      if case .duplicate = sighting { isDuplicate = true }
      report(sighting)
      if sighting.isLast { return sighting }
      if standstill.isToBeExplained(after: sighting) {
        onStandstill(try await hindrances(sighting, isLong: standstill.isLong, patience))
      }
      await store?.connection.loop.sleep(ms: OperationsLimits.jobPollMs)
      guard patience.isLeft else { throw .stopped }
    }
  }

  private func hindrances(
    _ sighting: JobSighting, isLong: Bool, _ patience: Patience
  ) async throws(OperationError) -> [JobHindrance] {
    guard let store else { return [] }
    let found: [JobHindrance]
    do throws(OperationError) {
      found = try await patience.repeating(on: store) { _ throws(RedisError) in
        try await JobHindrance.all(of: job.app, sighting.record, in: stores)
      }
    } catch {
      // The job can be watched without an explanation.
      if case .redis(.server) = error { return [] }
      throw error
    }
    // Workers may be about to start.
    return found.filter { isLong || $0 != .noWorker }
  }

  /// Looks at the job that came earlier: once it is known, nothing else needs to be looked for.
  private func lookAtEarlier(_ patience: Patience) async throws(OperationError) -> JobSighting {
    guard let store else { return .gone }
    let record = try await patience.repeating(on: store) { store throws(RedisError) in
      try await store.record(app: job.app, job: job.id)
    }
    if let refusal = record?.refusal { return .refused(refusal) }
    return record.map { .duplicate($0) } ?? .gone
  }

  /// Looks once.
  package func look(_ patience: Patience) async throws(OperationError) -> JobSighting {
    guard let store else { return .gone }
    return try await patience.repeating(on: store) { store throws(RedisError) in
      try await look(in: store)
    }
  }

  /// The order of the reads matters: an entry leaves its stream only after the record or the dead letter is there.
  private func look(in store: ShardStore) async throws(RedisError) -> JobSighting {
    // Most looks are at a job that runs, and whether an entry is in its stream costs Redis a write.
    let source = try await store.jobs.source(app: job.app, id: job.id)
    if source == job.source, let record = try await store.record(app: job.app, job: job.id) {
      if let refusal = record.refusal { return .refused(refusal) }
      if record.isAdmitted { return .admitted(record) }
    }
    return try await lookFurther(in: store)
  }

  private func lookFurther(in store: ShardStore) async throws(RedisError) -> JobSighting {
    let isQueued = try await store.jobs.isQueued(job.entry, job.priority)
    let source = try await store.jobs.source(app: job.app, id: job.id)
    let record = try await store.record(app: job.app, job: job.id)
    // One that was named while it waited may have become a dead letter since.
    if let record, source == job.source {
      if let refusal = record.refusal { return .refused(refusal) }
      if record.isAdmitted || isQueued { return .admitted(record) }
    }
    if isQueued { return .waiting }
    // Also of one that an older version refused, or whose id is another job's: there is no record of its own.
    if let letter = try await deadLetter(in: store) { return .refused(letter.refusal) }
    guard let record, source != job.source, record.refusal == nil else { return .gone }
    // Its entry was deleted, and an operator has cancelled what was left, which freed the name.
    if record.state == .cancelled, record.source == "" { return .admitted(record) }
    return .duplicate(record)
  }

  /// The dead letter that holds this job's text, among those since it was enqueued.
  private func deadLetter(in store: ShardStore) async throws(RedisError) -> DeadLetter? {
    // A worker may have refused it in the millisecond in which it came.
    var after = "\(max(0, job.addedAtMs - 1))-0"
    var seen = 0
    while seen < OperationsLimits.deadSearchMax {
      let page = try await store.deadLetters.list(
        after: after, max: OperationsLimits.deadPage)
      for letter in page where letter.kind == "job" && mayBe(letter) {
        let whole = try await store.deadLetters.show(letter.entry)
        if let whole, whole.original.map({ Array($0.utf8) == job.text }) == true { return whole }
      }
      guard page.count == OperationsLimits.deadPage, let last = page.last else { return nil }
      seen += page.count
      after = last.entry
    }
    return nil
  }

  /// A job that could not be read names neither app nor id.
  private func mayBe(_ letter: DeadLetter) -> Bool {
    (letter.jobEntry.isEmpty || letter.jobEntry == job.entry)
      && letter.priority == job.priority.rawValue && (letter.app.isEmpty || letter.app == job.app)
      && (letter.id.isEmpty || letter.id == job.id)
  }
}
