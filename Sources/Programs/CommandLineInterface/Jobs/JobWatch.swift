internal import Model
internal import Redis
internal import Store

/// Follows one enqueued job to its end.
struct JobWatch {
  let job: EnqueuedJob
  let session: RedisSession

  /// Looks once. The order of the reads matters: an entry leaves its stream only after the record or the dead
  /// letter is there.
  func look() async throws(CommandFailure) -> JobSighting {
    let job = job
    return try await session.runRepeating { store throws(RedisError) in
      try await Self.look(for: job, in: store)
    }
  }

  private static func look(
    for job: EnqueuedJob, in store: Store
  ) async throws(RedisError) -> JobSighting {
    let queued = RedisCommand("XRANGE", store.keys.jobs(job.priority), job.entry, job.entry)
    let isQueued = try await store.connection.call(queued) { $0.count > 0 }
    let source = try await store.connection.call(
      RedisCommand("HGET", store.keys.job(app: job.app, id: job.id), "source"))
    let record = try await store.jobs.record(app: job.app, id: job.id)
    // One that was named while it waited may have become a dead letter since.
    if let record, source.string == job.source, record.isAdmitted || isQueued {
      return .admitted(record)
    }
    if isQueued { return .waiting(complaint: try await complaint(of: job, in: store)) }
    if let letter = try await deadLetter(of: job, in: store) { return .refused(letter) }
    return record.flatMap { source.string == job.source ? nil : .duplicate($0) } ?? .gone
  }

  /// The alarm that no worker has the app, if it stands.
  private static func complaint(
    of job: EnqueuedJob, in store: Store
  ) async throws(RedisError) -> String? {
    let time = try await store.connection.call(RedisCommand("TIME"))
    let told = Int64(time.array?.first?.integer ?? 0)
    let seconds = min(max(told, 0), Limits.instantMsMax / 1_000)
    return try await store.alarms.current(nowMs: seconds * 1_000)
      .first { $0.field == "no_worker|\(job.app)" }?.message
  }

  /// The dead letter that holds this job's text, among those since it was enqueued.
  private static func deadLetter(
    of job: EnqueuedJob, in store: Store
  ) async throws(RedisError) -> DeadLetter? {
    var after: String?
    var seen = 0
    while seen < CommandLineLimits.deadSearchMax {
      let page = try await store.deadLetters.list(
        after: after ?? "\(job.addedAtMs)-0", max: CommandLineLimits.deadPage)
      for letter in page where letter.kind == "job" && mayBe(letter, job) {
        let whole = try await store.deadLetters.show(letter.entry)
        if let whole, whole.original.map({ Array($0.utf8) == job.text }) == true { return whole }
      }
      guard page.count == CommandLineLimits.deadPage else { return nil }
      seen += page.count
      after = page.last?.entry
    }
    return nil
  }

  /// A job that could not be read names neither app nor id.
  private static func mayBe(_ letter: DeadLetter, _ job: EnqueuedJob) -> Bool {
    letter.priority == job.priority.rawValue && (letter.app.isEmpty || letter.app == job.app)
      && (letter.id.isEmpty || letter.id == job.id)
  }

  /// Shows progress until the job has ended. A Ctrl-C leaves the job as it is.
  /// - Parameter check: called between looks, to give up for a reason of the caller's.
  func follow(
    display: ProgressDisplay, console: Console,
    check: () throws(CommandFailure) -> Void = { () throws(CommandFailure) in }
  ) async throws(CommandFailure) -> JobRecord {
    var hasHinted = false
    while true {
      let sighting: JobSighting
      do throws(CommandFailure) { sighting = try await look() } catch {
        display.clear()
        throw error.status == .interrupted ? left : error
      }
      switch sighting {
      case .waiting(let complaint?):
        display.update(done: 0, label: "waiting for a worker that has \(job.app)")
        if !hasHinted {
          hasHinted = true
          display.clear()
          console.note(DisplayText.printable(complaint))
        }
      case .waiting(nil):
        display.update(done: 0, label: "waiting for a worker")
        if !hasHinted, display.elapsedMs >= CommandLineLimits.noWorkerHintMs {
          hasHinted = true
          display.clear()
          console.note("no worker has taken the job yet; is one running? start: pushpool worker")
        }
      case .admitted(let record):
        let label = record.state == .running ? "sending" : record.state.rawValue
        display.update(done: record.counts.settled, total: record.total, label: label)
        if record.state.isFinal {
          display.clear()
          return record
        }
      case .duplicate(let record):
        display.clear()
        console.note(
          "a job \(job.id) with the same content came before; this is what became of it")
        return record
      case .refused(let letter):
        display.clear()
        throw refusal(letter)
      case .gone:
        display.clear()
        throw CommandFailure(
          .internalError, "job \(job.id) is neither queued nor recorded: was it deleted in Redis?")
      }
      await session.sleep(ms: CommandLineLimits.jobPollMs)
      do throws(CommandFailure) { try check() } catch {
        display.clear()
        throw error
      }
      if Interrupts.shared.hasCome {
        display.clear()
        throw left
      }
    }
  }

  private var left: CommandFailure {
    CommandFailure(
      .interrupted, "the job goes on; see it with: pushpool job \(job.id) --app \(job.app)")
  }

  private func refusal(_ letter: DeadLetter) -> CommandFailure {
    let field = letter.field.isEmpty ? "" : "\(letter.field): "
    let message = DisplayText.printable(field + letter.message)
    return CommandFailure(
      .badInput,
      "the job was refused (\(letter.reason)): \(message); see: pushpool dead show \(letter.entry)")
  }
}
