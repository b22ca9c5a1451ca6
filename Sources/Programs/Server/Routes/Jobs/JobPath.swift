internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// The app that a path names. It need not be in the configuration: what is left of an app that was taken out can be looked at.
struct AppPath: Sendable {
  let app: String

  /// - Throws: 422 for what can be no app's name.
  init(_ request: APIRequest) throws(Problem) {
    app = request.parameter("app")
    do throws(InvalidField) { try TextRule.checkApp(app) } catch {
      throw PathValue.refused("app", error)
    }
  }
}

/// The job that a path names, and what is known of it.
struct JobPath: Sendable {
  let app: String
  let id: String

  /// - Throws: 422 for what can be no app's name or no job's id.
  init(_ request: APIRequest) throws(Problem) {
    app = try AppPath(request).app
    id = request.parameter("id")
    do throws(InvalidField) { try TextRule.checkJobID(id) } catch {
      throw PathValue.refused("id", error)
    }
  }

  /// The result of a look at a job, or of an act on it.
  enum Finding: Sendable {
    case record(JobRecord)
    /// The job waits for a worker, who will refuse it by this rule.
    case doomed(InvalidField)
    /// The job has ended, and its record is not kept any more.
    case gone
    case unknown
    /// Too many jobs wait to look through all of them.
    case notFoundYet
    /// The job goes on, and does not start at another time.
    case unmoved(RescheduleRefusal)
  }

  /// Looks at the job, or acts on it, wherever it is.
  func perform(_ action: JobAction, _ services: Services) async throws(Problem) -> Finding {
    let path = self
    return try await services.operate(in: .app(app), about: [.job(app: app, id: id)]) {
      stores throws(OperationError) in
      try await path.perform(action, in: stores)
    }
  }

  private func perform(
    _ action: JobAction, in stores: [ShardStore]
  ) async throws(OperationError) -> Finding {
    let control = JobControl(app: app, id: id, stores: stores)
    do throws(OperationError) {
      // To see a job that has a record takes no search.
      if action == .show, let record = try await recorded(control) { return .record(record) }
      let end = ContinuousClock.now + .seconds(ServerLimits.searchSeconds)
      let patience = Patience(goesOn: { ContinuousClock.now < end })
      return .record(
        try await control.perform(
          action, nowMs: InstantText.nowMs(), patience: patience, report: { _ in }))
    } catch {
      switch error {
      case .doomedJob(_, let fault): return .doomed(fault)
      case .notFoundYet: return .notFoundYet
      case .unmovedJob(_, let refusal): return .unmoved(refusal)
      case .unknownJob: return try await hasEnded(in: stores) ? .gone : .unknown
      case .redis, .stopped: throw error
      }
    }
  }

  /// The job's record when it has one.
  func recorded(_ services: Services) async throws(Problem) -> JobRecord? {
    let (app, id) = (app, id)
    return try await services.ask(in: .app(app), about: [.job(app: app, id: id)]) {
      stores throws(RedisError) in
      try await JobControl(app: app, id: id, stores: stores).recorded()
    }
  }

  private func recorded(_ control: JobControl) async throws(OperationError) -> JobRecord? {
    do throws(RedisError) { return try await control.recorded() } catch { throw .redis(error) }
  }

  /// Whether the job is among those that ended last.
  private func hasEnded(in stores: [ShardStore]) async throws(OperationError) -> Bool {
    do throws(RedisError) {
      for store in stores {
        let ended = try await store.jobs.ended(of: app, max: OperationsLimits.listedJobsMax)
        if ended.contains(where: { TextRule.isSame($0.id, id) }) { return true }
      }
      return false
    } catch { throw .redis(error) }
  }

  /// The record of a finding.
  /// - Throws: 404 for a job that is unknown, 410 for one that is gone, 409 for one that will be refused, or cannot be moved, 422 for one
  ///   that cannot be moved to that instant, 503 where that could not be found out.
  func record(_ finding: Finding) throws(Problem) -> JobRecord {
    switch finding {
    case .record(let record): return record
    case .doomed(let fault):
      throw .conflict(
        "job \(id) waits for a worker, and nothing of it will be sent: the one that takes it makes it "
          + "a dead letter, because \(DisplayText.printable(fault.description))")
    case .gone:
      throw Problem(
        410, "gone",
        "job \(id) of \(app) has ended, and its record is not kept any more (by default an hour "
          + "without an id, a day with one, and a week if it went to many)")
    case .unknown:
      throw .notFound(
        "there is no job \(id) of \(app): it was never added, was refused before it had a record, or "
          + "ended longer ago than its record is kept")
    case .notFoundYet:
      throw .unavailable(
        "job \(id) has no record, and so many jobs wait for workers that it was not found among them "
          + "in \(ServerLimits.searchSeconds) s: nothing was changed, try again")
    case .unmoved(let refusal) where refusal.isOfInstant:
      throw .invalid(
        InvalidField(pointer: "/\(JobRoutes.startField)", message: "is refused: \(refusal.reason)"))
    case .unmoved(let refusal):
      throw .conflict("job \(id) is not moved to another start: \(refusal.reason)")
    }
  }
}
