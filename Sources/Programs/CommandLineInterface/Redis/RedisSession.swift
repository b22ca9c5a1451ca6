internal import Configuration
internal import Operations
internal import Reactor
internal import Redis
internal import Store
internal import Typesetting
internal import Worker

/// One connection to Redis for the length of a command.
actor RedisSession {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let place: String
  /// Who has the rights that the command needs.
  private let user: User
  private var store: Store?

  private init(loop: EventLoop, place: String, user: User) {
    self.loop = loop
    self.place = place
    self.user = user
  }

  /// The documented user with the fewest rights that may do what a command does.
  enum User {
    case dashboard, producer, reader, `operator`

    fileprivate var documented: DocumentedUser {
      switch self {
      case .dashboard: .dashboard
      case .producer: .producer
      case .reader: .reader
      case .operator: .operator
      }
    }

    /// Whether functions are called, of which a reader calls only those that write nothing.
    fileprivate var callsFunctions: Bool { self == .reader || self == .operator }
  }

  /// Connects, or says at once why that cannot be.
  /// - Parameter user: whose rights the command needs. The functions that an operator calls are loaded where they are missing.
  static func open(
    _ configuration: RedisConfiguration, as user: User
  ) async throws(CommandFailure) -> RedisSession {
    guard let loop = Program.loop else {
      throw CommandFailure(.internalError, "there is no loop to talk to Redis on")
    }
    let session = RedisSession(loop: loop, place: "\(configuration.url)", user: user)
    try await session.connect(configuration)
    return session
  }

  private func connect(
    _ configuration: RedisConfiguration
  ) async throws(CommandFailure) {
    let connection: RedisConnection
    do {
      var endpoint = try RedisEndpoint(configuration)
      endpoint.clientName = "pushpool-cli"
      connection = try RedisConnection(
        loop: loop, endpoint: endpoint,
        library: user.callsFunctions ? StoreLibrary.library : nil,
        needsLibrary: user == .operator)
    } catch {
      throw CommandFailure(.configuration, "\(error)")
    }
    store = Store(connection: connection, prefix: configuration.prefix)
    let failure: RedisError? = await withUnsafeContinuation { continuation in
      var isAnswered = false
      func answer(_ failure: RedisError?) {
        if !isAnswered { continuation.resume(returning: failure) }
        isAnswered = true
      }
      connection.onReady = { answer(nil) }
      // The first failure is the answer: a person waits.
      connection.onLost = { answer($0) }
      connection.connect()
    }
    connection.onReady = nil
    connection.onLost = nil
    if let failure {
      connection.close()
      throw CommandFailure(
        .unavailable,
        "cannot use Redis at \(place): \(failure.described(with: advice(after: failure)))")
    }
    // For other clients: that it fails is no reason not to do what was asked for.
    if user == .operator { _ = try? await store?.registration.provide() }
  }

  /// Returns advice about a connection that cannot be made.
  private func advice(after failure: RedisError) -> String? {
    if let remedy = user.documented.remedy(for: failure) { return remedy }
    switch failure {
    case .connectionLost, .timeout, .unavailable:
      return "start it, or name another with --redis URL"
    case .server, .protocolViolation, .tooManyPending, .unsuitable, .unexpectedReply: return nil
    }
  }

  /// Tells of what is unsafe about Redis and not accepted: for commands that bring what it is to keep.
  func warnOfRisks(_ configuration: RedisConfiguration, on console: Console) async {
    guard let settings = try? await store?.settings.readAllowed() else { return }
    for finding in settings.risks(accepting: configuration.acceptedRisks) {
      console.note("warning: \(finding.sentence)")
    }
  }

  /// Runs a body on the session's loop, against the store.
  /// - Parameter subjects: what it is about, to say which of its keys is wrong.
  func run<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable (Store) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    guard let store else { throw CommandFailure(.internalError, "the session is closed") }
    do throws(RedisError) {
      return try await body(store)
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  /// Begins a body and does not wait for it. Bodies begin in the order of the calls, each at once: the first command
  /// of each goes out in that order.
  func begin<Value: Sendable>(
    _ body: @escaping @Sendable (Store) async throws(RedisError) -> Value
  ) -> Task<Result<Value, RedisError>, Never> {
    Task.immediate {
      guard let store = self.store else { return .failure(.unavailable(reason: "closed")) }
      do throws(RedisError) { return .success(try await body(store)) } catch {
        return .failure(error)
      }
    }
  }

  /// Runs an operation on the session's loop, against the stores of the fleet.
  /// - Parameter subjects: as of `run`.
  func operate<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([Store]) async throws(OperationError) -> Value
  ) async throws(CommandFailure) -> Value {
    guard let store else { throw CommandFailure(.internalError, "the session is closed") }
    do throws(OperationError) {
      return try await body([store])
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  /// Waits until what failed for the nth time may be tried again.
  /// - Parameter subjects: as of `run`.
  /// - Throws: when it failed for good, was tried often enough, or a signal has come.
  func waitToRepeat(
    after error: RedisError, attempt: Int, about subjects: [KeySubject]
  ) async throws(CommandFailure) {
    guard let store else { throw await failure(error, about: subjects) }
    do throws(OperationError) {
      try await Patience.ofCommands().wait(for: store, after: error, attempt: attempt)
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  func sleep(ms: UInt64) async { await loop.sleep(ms: ms) }

  func close() {
    store?.connection.close()
    store = nil
  }

  private func failure(
    _ error: OperationError, about subjects: [KeySubject]
  ) async -> CommandFailure {
    switch error {
    case .redis(let error): await failure(error, about: subjects)
    case .stopped: CommandFailure(.interrupted, "interrupted")
    case .notFoundYet(let id):
      CommandFailure(
        .interrupted,
        "job \(DisplayText.printable(id)) was not found yet, and nothing was changed")
    case .unknownJob(let app, let id): .unknownJob(id, app: app, or: "never enqueued")
    case .doomedJob(let id, let fault):
      CommandFailure(
        .badInput,
        "job \(DisplayText.printable(id)) waits for a worker, and nothing of it will be sent: the "
          + "one that takes it makes it a dead letter (pushpool dead list), because "
          + DisplayText.printable("\(fault)"))
    }
  }

  private func failure(
    _ error: RedisError, about subjects: [KeySubject]
  ) async -> CommandFailure {
    switch error {
    case .server("INVALID", let message): CommandFailure(.badInput, message)
    case .server("WRONGTYPE", _): await wrongType(error, about: subjects)
    case .server where error.isFunctionMissing:
      CommandFailure(
        .unavailable,
        "Redis at \(place): the functions of version \(WorkerVersion.text) are not loaded there: "
          + "start a worker of this version, or run a command once as \(DocumentedUser.operator.rawValue)"
      )
    case .server, .connectionLost, .timeout, .unavailable, .tooManyPending, .unsuitable:
      CommandFailure(.unavailable, "Redis at \(place): \(user.documented.explain(error))")
    case .protocolViolation, .unexpectedReply:
      CommandFailure(.internalError, "Redis at \(place): \(error)")
    }
  }

  /// Redis does not say which key it is: the keys are asked one by one.
  private func wrongType(
    _ error: RedisError, about subjects: [KeySubject]
  ) async -> CommandFailure {
    let findings = (try? await store?.keyTypes.findings(after: error, about: subjects)) ?? []
    let told = findings.prefix(CommandLineLimits.wrongKeysNamedMax).map {
      "\(DisplayText.printable($0.sentence)); \($0.remedy)"
    }
    let what =
      told.isEmpty ? "\(error): another program uses the same prefix" : told.joined(separator: ". ")
    return CommandFailure(
      .badInput, "Redis at \(place): \(what); or choose another prefix with --prefix")
  }
}
