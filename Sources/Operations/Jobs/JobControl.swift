package import Model
package import Redis
package import Store

/// Shows a job, or stops it or lets it go on, wherever it is: taken in by a worker or still waiting for one.
package struct JobControl {
  private let app: String
  private let id: String
  private let stores: [ShardStore]

  package init(app: String, id: String, stores: [ShardStore]) {
    self.app = app
    self.id = id
    self.stores = stores
  }

  /// The job's record when it has one, without a look at what waits; needs no functions.
  package func recorded() async throws(RedisError) -> JobRecord? {
    let (app, id) = (app, id)
    return try await stores.firstAnswer { store throws(RedisError) in
      try await store.record(app: app, job: id)
    }
  }

  /// - Parameters:
  ///   - nowMs: epoch milliseconds, to believe a waiting job's id when it says when it was enqueued.
  ///   - patience: for the search among the jobs that wait, which only reads.
  ///   - report: as that of `WaitingJobSearch.find`.
  /// - Returns: the record as it is then; that of a job that had ended is as it was (`JobAction.wasTooLate`).
  /// - Throws: `.unknownJob`, `.doomedJob`, `.unmovedJob`, and what the search throws.
  package func perform(
    _ action: JobAction, nowMs: Int64, patience: Patience, report: (Int) -> Void
  ) async throws(OperationError) -> JobRecord {
    let search = WaitingJobSearch(app: app, id: id, stores: stores)
    for _ in 0..<OperationsLimits.namingTriesMax {
      let record = try await change(action)
      // Whoever refused a job freed its name: a corrected one of the same id may wait.
      if let record, record.state != .refused || action == .show { return record }
      guard let found = try await search.find(patience, report: report) else { break }
      if let fault = found.job.fault { throw .doomedJob(job: id, fault: fault) }
      switch action {
      // Without a record it is not paused.
      case .show, .resume: return found.store.own(found.job.record(nowMs: nowMs))
      case .reschedule: throw .unmovedJob(job: id, .waiting)
      // Whatever the answer, there is a record now, or there was a worker that was faster.
      case .cancel, .pause, .pace:
        do throws(RedisError) { _ = try await found.store.jobs.waiting.name(found.job) } catch {
          throw .redis(error)
        }
      }
    }
    // It may have been taken in between the look at the records and the one at the streams.
    if let record = try await change(action) { return record }
    throw .unknownJob(app: app, job: id)
  }

  /// Nil for a job that has no record.
  private func change(_ action: JobAction) async throws(OperationError) -> JobRecord? {
    let (app, id) = (app, id)
    let found: (record: JobRecord, refusal: RescheduleRefusal?)?
    do throws(RedisError) {
      found = try await stores.firstAnswer { store throws(RedisError) in
        var refusal: RescheduleRefusal?
        let isKnown: Bool
        switch action {
        case .show: isKnown = true
        case .cancel: isKnown = try await store.jobs.cancel(app: app, id: id) != nil
        case .pause: isKnown = try await store.jobs.pause(app: app, id: id) != nil
        case .resume: isKnown = try await store.jobs.resume(app: app, id: id) != nil
        case .pace(let perSecond):
          isKnown = try await store.jobs.setPace(app: app, id: id, perSecond: perSecond) != nil
        case .reschedule(let atMs):
          let answer = try await store.jobs.reschedule(app: app, id: id, atMs: atMs)
          isKnown = answer != nil
          refusal = answer.flatMap { RescheduleRefusal($0) }
        }
        guard isKnown, let record = try await store.record(app: app, job: id) else { return nil }
        return (record, refusal)
      }
    } catch {
      throw .redis(error)
    }
    if let refusal = found?.refusal { throw .unmovedJob(job: id, refusal) }
    return found?.record
  }
}

/// An operator's action on a job.
package enum JobAction: Sendable, Equatable {
  case show, cancel, pause, resume
  /// Keep to so many pushes a second; nil for as many as there can be.
  case pace(perSecond: Int?)
  /// Start at that time, in epoch milliseconds; nil for at once.
  case reschedule(atMs: Int64?)

  /// Whether a job that is in this state afterwards had ended before the action.
  package func wasTooLate(_ state: JobState) -> Bool {
    switch self {
    // One that was moved may be over by now: it was sent because of that.
    case .show, .reschedule: false
    case .cancel: state == .done || state == .refused
    case .pause, .resume, .pace: state.isFinal
    }
  }
}
