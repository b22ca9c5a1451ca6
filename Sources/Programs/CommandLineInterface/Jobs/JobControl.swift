internal import Model
internal import Redis
internal import Store

/// Shows a job, or stops it or lets it go on, wherever it is: taken in by a worker or still waiting for one.
struct JobControl {
  let app: String
  let id: String
  let session: RedisSession

  /// The job's record when it has one, without a look at what waits.
  func recorded() async throws(CommandFailure) -> JobRecord? {
    let (app, id) = (app, id)
    return try await session.run { store throws(RedisError) in
      try await store.jobs.record(app: app, id: id)
    }
  }

  /// - Returns: the record as it is then.
  func perform(_ action: JobCommand.Action) async throws(CommandFailure) -> JobRecord {
    let search = WaitingJobSearch(app: app, id: id, session: session)
    for _ in 0..<CommandLineLimits.namingTriesMax {
      if let record = try await change(action) { return record }
      guard let job = try await search.find() else { break }
      if let fault = job.fault { throw doomed(job, fault) }
      switch action {
      // Without a record it is not paused.
      case .show, .resume: return job.record(nowMs: InstantText.nowMs())
      // Whatever the answer, there is a record now, or there was a worker that was faster.
      case .cancel, .pause:
        _ = try await session.run { store throws(RedisError) in try await store.jobs.name(job) }
      }
    }
    // It may have been taken in between the look at the records and the one at the streams.
    if let record = try await change(action) { return record }
    throw .unknownJob(id, app: app, or: "never enqueued")
  }

  /// Nil for a job that has no record.
  private func change(_ action: JobCommand.Action) async throws(CommandFailure) -> JobRecord? {
    let (app, id) = (app, id)
    let isKnown = try await session.run { store throws(RedisError) in
      switch action {
      case .show: true
      case .cancel: try await store.jobs.cancel(app: app, id: id) != nil
      case .pause: try await store.jobs.pause(app: app, id: id) != nil
      case .resume: try await store.jobs.resume(app: app, id: id) != nil
      }
    }
    return isKnown ? try await recorded() : nil
  }

  private func doomed(_ job: WaitingJob, _ fault: InvalidField) -> CommandFailure {
    CommandFailure(
      .badInput,
      "job \(DisplayText.printable(id)) waits for a worker, and nothing of it will be sent: the one that takes it "
        + "makes it a dead letter (pushpool dead list), because \(DisplayText.printable("\(fault)"))"
    )
  }
}
