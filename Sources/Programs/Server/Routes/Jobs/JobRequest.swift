internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

/// A request to add a job: the job's text, with its app and an id in it.
struct JobRequest: Sendable {
  let app: String
  let id: String
  let priority: Priority
  /// Whether the caller gave the id, and so may repeat the request.
  let isNamedByCaller: Bool
  private let submission: JobSubmission
  private let job: Job

  /// - Throws: 400 for what is no JSON, 404 for an app that the configuration does not have, 422 for a job that breaks a rule.
  init(_ request: APIRequest, _ configuration: Configuration) throws(Problem) {
    let app = try PathValue.app(request, configuration)
    priority = try Self.priority(request)
    let body = try request.json()
    guard case .object(var object) = body else {
      throw .invalid(InvalidField(pointer: "", message: "must be an object, is \(body.kindName)"))
    }
    var isChanged = false
    if let named = object["app"] {
      guard let text = named.stringValue, TextRule.isSame(text, app) else {
        throw .invalid(
          InvalidField(
            pointer: "/app", message: "must be \"\(app)\", as in the path; it may be left out"))
      }
    } else {
      object["app"] = .string(app)
      isChanged = true
    }
    let key = try Self.idempotencyKey(request)
    isNamedByCaller = object["id"] != nil || key != nil
    if let id = object["id"] {
      if let key, id.stringValue.map({ !TextRule.isSame($0, key) }) ?? false {
        throw .invalid(
          InvalidField(
            pointer: "/id",
            message: "must be what the Idempotency-Key header says: give one of them"))
      }
    } else {
      object["id"] = .string(key ?? Self.madeID())
      isChanged = true
    }
    do throws(InvalidField) {
      submission = try JobSubmission(
        checking: isChanged ? JSONValue.object(object).bytes() : request.body)
    } catch { throw .invalid(error) }
    guard let id = submission.id, let job = submission.job else {
      throw Problem(500, "internal error", "the job has lost its id: tell the developers")
    }
    do throws(InvalidField) {
      try PathValue.checkSegment(id, at: "/id")
      try OwnKeys.check(job, prefix: configuration.redis(of: app).prefix)
    } catch { throw .invalid(error) }
    self.app = app
    self.id = id
    self.job = job
  }

  private static func priority(_ request: APIRequest) throws(Problem) -> Priority {
    guard let text = try request.queryValue("priority") else { return .normal }
    guard let priority = Priority(rawValue: text) else {
      throw .badRequest("priority of the query must be high, normal or low")
    }
    return priority
  }

  /// The key of the header, which may be in quotes (draft-ietf-httpapi-idempotency-key-header, 2.1).
  private static func idempotencyKey(_ request: APIRequest) throws(Problem) -> String? {
    guard var key = request.headers["idempotency-key"]?[...] else { return nil }
    if key.utf8.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") {
      key = key.dropFirst().dropLast()
    }
    let text = String(key)
    do throws(InvalidField) { try TextRule.checkJobID(text) } catch {
      throw .badRequest("the Idempotency-Key header \(error.message): it becomes the job's id")
    }
    return text
  }

  /// A name that no other job has: 128 random bits.
  private static func madeID() -> String {
    var generator = SystemRandomNumberGenerator()
    let words = [generator.next(), generator.next()] as [UInt64]
    return "j"
      + words.map { word in
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
  }

  // MARK: Adding it

  /// The end of a submission.
  enum Outcome: Sendable {
    /// - Parameter isReplayed: whether the same job came before this request.
    case accepted(JobState, isReplayed: Bool)
    /// Another job has its id.
    case conflict(InvalidField)
    /// A worker would refuse it.
    case refused(InvalidField)
    /// Redis has not answered, and may have added it.
    case uncertain
  }

  func submit(_ services: Services) async throws(Problem) -> Outcome {
    let request = self
    return try await services.operate(in: .app(app), about: [.job(app: app, id: id)]) {
      stores throws(OperationError) in
      try await request.submit(in: stores)
    }
  }

  /// Submits it again after a lost answer. The job has an id, so that nothing is doubled.
  private func submit(in stores: [ShardStore]) async throws(OperationError) -> Outcome {
    guard let store = stores.first else { throw .stopped }
    let patience = Patience.server
    var attempt = 1
    var isUncertain = false
    while true {
      let failure: RedisError
      do throws(RedisError) { return try await submit(in: store, mayBeThere: isUncertain) } catch {
        failure = error
      }
      isUncertain = isUncertain || failure.mayHaveHappened
      // Nothing was added, and the caller can wait as well.
      guard isUncertain else { throw .redis(failure) }
      do throws(OperationError) {
        try await patience.wait(for: store, after: failure, attempt: attempt)
      } catch { return .uncertain }
      attempt += 1
    }
  }

  /// - Parameter mayBeThere: whether an earlier try may have added it: it is no replay then.
  private func submit(
    in store: ShardStore, mayBeThere: Bool
  ) async throws(RedisError) -> Outcome {
    switch try await JobOutlook.of(job, digest: submission.digest, in: store) {
    case .open: break
    case .repeated:
      return .accepted(try await state(in: store), isReplayed: !mayBeThere)
    case .refused(let field):
      return field.pointer == "/id" ? .conflict(field) : .refused(field)
    }
    switch try await submission.submit(in: store, priority: priority) {
    case .created: return .accepted(.queued, isReplayed: false)
    case .replayed: return .accepted(try await state(in: store), isReplayed: !mayBeThere)
    case .conflict(let field): return .conflict(field)
    }
  }

  private func state(in store: ShardStore) async throws(RedisError) -> JobState {
    try await store.jobs.record(app: app, id: id)?.state ?? .queued
  }
}
