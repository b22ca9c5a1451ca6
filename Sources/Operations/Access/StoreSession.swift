package import Model
package import PushpoolConfiguration
package import Reactor
package import Redis
package import Store
internal import Typesetting

/// The door by which a program beside the workers uses the stores of a fleet: one connection, which comes back by itself, and
/// sentences about what fails. An actor that runs on the loop of its connection.
package actor StoreSession {
  package nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }

  /// The shards of the fleet, by which entries are read that somebody names.
  package nonisolated let shards: [ShardID] = [.only]
  private let client: Client
  private let place: String
  /// The documented user with the fewest rights that may do what the session is for.
  private let user: DocumentedUser
  /// Whether plain commands that only read are all that it is for, so that a replica will do.
  private let onlyReads: Bool
  private var store: ShardStore?
  /// The fleet's own store, over the same connection: the only shard is the home.
  private var fleet: FleetStore?

  /// The program that asks.
  package struct Client: Sendable {
    /// The name that Redis shows it by (`CLIENT LIST`).
    let name: String
    let version: String

    package init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// Connects, or says at once why that cannot be.
  /// - Parameters:
  ///   - loop: one that runs, and outlives the session.
  ///   - user: whose rights the session needs. The functions that an operator or the server calls are loaded where they are missing.
  ///   - onlyReads: whether it reads alone, by plain commands, though a reader and a dashboard lack the rights.
  package static func open(
    _ configuration: RedisConfiguration, as user: DocumentedUser, onlyReads: Bool = false,
    for client: Client, on loop: EventLoop
  ) async throws(StoreFailure) -> StoreSession {
    let session = StoreSession(
      loop: loop, client: client, place: "\(configuration.url)", user: user, onlyReads: onlyReads)
    try await session.connect(configuration)
    return session
  }

  /// Returns at once, and connects meanwhile: for a program that is there before Redis is, and stays when Redis goes.
  /// Until there is a connection, and whenever there is none, whatever is asked fails at once.
  /// - Parameters:
  ///   - user, client, loop: as of `open`.
  ///   - onChange: called on the loop with nil each time the connection can be used, and with the reason each time it is
  ///     lost or cannot be made, once per attempt.
  package static func opening(
    _ configuration: RedisConfiguration, as user: DocumentedUser, for client: Client,
    on loop: EventLoop, onChange: @escaping @Sendable (StoreFailure?) -> Void
  ) async throws(StoreFailure) -> StoreSession {
    let session = StoreSession(
      loop: loop, client: client, place: "\(configuration.url)", user: user, onlyReads: false)
    try await session.connect(configuration, meanwhile: onChange)
    return session
  }

  private init(
    loop: EventLoop, client: Client, place: String, user: DocumentedUser, onlyReads: Bool
  ) {
    self.loop = loop
    self.client = client
    self.place = place
    self.user = user
    self.onlyReads = onlyReads
  }

  /// Whether the functions are loaded where they are missing.
  private var needsLibrary: Bool { !onlyReads && (user == .operator || user == .server) }

  /// Whether it may write. What only reads may read from a replica whose address somebody gives.
  private var needsPrimary: Bool {
    switch user {
    case .reader, .dashboard: false
    case .worker, .operator, .server, .producer, .registrar: !onlyReads
    }
  }

  /// - Parameter onChange: where it is given, this does not wait, and tells it what becomes of the connection.
  private func connect(
    _ configuration: RedisConfiguration,
    meanwhile onChange: (@Sendable (StoreFailure?) -> Void)? = nil
  ) async throws(StoreFailure) {
    let connection: RedisConnection
    do {
      var endpoint = try RedisEndpoint(configuration)
      endpoint.clientName = client.name
      // A reader calls only functions that write nothing.
      let callsFunctions = user == .reader || needsLibrary
      endpoint.needsPrimary = needsPrimary
      connection = try RedisConnection(
        loop: loop, endpoint: endpoint,
        library: callsFunctions ? StoreLibrary.library : nil, needsLibrary: needsLibrary)
    } catch {
      throw StoreFailure(.misconfigured, "\(error)")
    }
    store = ShardStore(connection: connection, prefix: configuration.prefix)
    fleet = FleetStore(connection: connection, prefix: configuration.prefix)
    if let onChange { return connect(connection, telling: onChange) }
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
      throw StoreFailure(
        .unavailable,
        "cannot use Redis at \(place): \(failure.described(with: advice(after: failure)))")
    }
    await provideFunctions()
  }

  private func connect(
    _ connection: RedisConnection, telling onChange: @escaping @Sendable (StoreFailure?) -> Void
  ) {
    connection.onReady = { [weak self] in
      onChange(nil)
      Task { await self?.provideFunctions() }
    }
    let place = place
    let user = user
    connection.onLost = {
      onChange(StoreFailure(.unavailable, "Redis at \(place): \(user.explain($0))"))
    }
    connection.connect()
  }

  private func provideFunctions() async {
    // For other clients: that it fails is no reason not to do what was asked for.
    if needsLibrary { _ = try? await store?.registration.provide() }
  }

  /// Returns advice about a connection that cannot be made.
  private func advice(after failure: RedisError) -> String? {
    if let remedy = user.remedy(for: failure) { return remedy }
    switch failure {
    case .connectionLost, .timeout, .unavailable:
      return "start it, or name another with --redis URL"
    case .server, .protocolViolation, .tooManyPending, .unsuitable, .unexpectedReply: return nil
    }
  }

  /// Returns what is unsafe about Redis and not accepted; nothing where it does not let itself be asked.
  package func risks(_ configuration: RedisConfiguration) async -> [RedisSettings.Finding] {
    let settings = try? await store?.settings.readAllowed()
    return settings?.risks(accepting: configuration.acceptedRisks) ?? []
  }

  /// Runs a body on the session's loop, against the store of a shard: for what is in one shard, as an install.
  /// - Parameter subjects: what it is about, to say which of its keys is wrong.
  package func run<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    guard let store else { throw Self.closed }
    do throws(RedisError) {
      return try await body(store)
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  /// Begins a body and does not wait for it. Bodies begin in the order of the calls, each at once: the first command
  /// of each goes out in that order.
  package func begin<Value: Sendable>(
    _ body: @escaping @Sendable (ShardStore) async throws(RedisError) -> Value
  ) -> Task<Result<Value, RedisError>, Never> {
    Task.immediate {
      guard let store = self.store else { return .failure(.unavailable(reason: "closed")) }
      do throws(RedisError) { return .success(try await body(store)) } catch {
        return .failure(error)
      }
    }
  }

  /// Runs a body on the session's loop, against what the fleet has once.
  /// - Parameter patience: for what may be repeated; by default it is tried once.
  package func atHome<Value: Sendable>(
    with patience: @Sendable () -> Patience = { Patience() },
    _ body: @Sendable (FleetStore) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    guard let fleet else { throw Self.closed }
    do throws(OperationError) {
      return try await patience().repeating(at: fleet, body)
    } catch {
      throw await failure(error, about: [])
    }
  }

  /// Runs a body on the session's loop, against the stores of all shards.
  /// - Parameter subjects: as of `run`.
  package func ask<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    try await run(about: subjects) { store throws(RedisError) in try await body([store]) }
  }

  /// Runs an operation as `ask`, which may fail otherwise than by Redis.
  /// - Parameter subjects: as of `run`.
  package func operate<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async throws(StoreFailure) -> Value {
    guard let store else { throw Self.closed }
    do throws(OperationError) {
      return try await body([store])
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  /// Waits until what failed for the nth time may be tried again.
  /// - Parameter subjects: as of `run`.
  /// - Throws: when it failed for good, was tried often enough, or the caller wants it to end.
  package func waitToRepeat(
    after error: RedisError, attempt: Int, about subjects: [KeySubject],
    with patience: @Sendable () -> Patience
  ) async throws(StoreFailure) {
    guard let store else { throw await failure(error, about: subjects) }
    do throws(OperationError) {
      try await patience().wait(for: store, after: error, attempt: attempt)
    } catch {
      throw await failure(error, about: subjects)
    }
  }

  package func sleep(ms: UInt64) async { await loop.sleep(ms: ms) }

  package func close() {
    store?.connection.close()
    store = nil
    fleet = nil
  }

  // MARK: Sentences

  private static let closed = StoreFailure(.internalError, "the session is closed")

  private func failure(
    _ error: OperationError, about subjects: [KeySubject]
  ) async -> StoreFailure {
    switch error {
    case .redis(let error): await failure(error, about: subjects)
    case .stopped: StoreFailure(.interrupted, "interrupted")
    case .notFoundYet(let id):
      StoreFailure(
        .interrupted,
        "job \(DisplayText.printable(id)) was not found yet, and nothing was changed")
    case .unknownJob(let app, let id): .unknownJob(id, app: app, or: "never enqueued")
    case .doomedJob(let id, let fault):
      StoreFailure(
        .invalid,
        "job \(DisplayText.printable(id)) waits for a worker, and nothing of it will be sent: the "
          + "one that takes it makes it a dead letter (pushpool dead list), because "
          + DisplayText.printable("\(fault)"))
    }
  }

  private func failure(
    _ error: RedisError, about subjects: [KeySubject]
  ) async -> StoreFailure {
    switch error {
    case .server("INVALID", let message): StoreFailure(.invalid, message)
    case .server("WRONGTYPE", _): await wrongType(error, about: subjects)
    case .server where error.isFunctionMissing:
      StoreFailure(
        .unavailable,
        "Redis at \(place): the functions of version \(client.version) are not loaded there: "
          + "start a worker of this version, or run a command once as \(DocumentedUser.operator.rawValue)"
      )
    case .server, .connectionLost, .timeout, .unavailable, .tooManyPending, .unsuitable:
      StoreFailure(
        .unavailable, "Redis at \(place): \(user.explain(error))",
        mayHaveHappened: error.mayHaveHappened)
    case .protocolViolation, .unexpectedReply:
      StoreFailure(.internalError, "Redis at \(place): \(error)")
    }
  }

  /// Redis does not say which key it is: the keys are asked one by one.
  private func wrongType(
    _ error: RedisError, about subjects: [KeySubject]
  ) async -> StoreFailure {
    let findings = (try? await store?.keyTypes.findings(after: error, about: subjects)) ?? []
    let told = findings.prefix(OperationsLimits.wrongKeysNamedMax).map {
      "\(DisplayText.printable($0.sentence)); \($0.remedy)"
    }
    let what =
      told.isEmpty ? "\(error): another program uses the same prefix" : told.joined(separator: ". ")
    return StoreFailure(
      .wrongType, "Redis at \(place): \(what); or choose another prefix with --prefix")
  }
}

extension KeyTypes.Finding {
  /// Advice about it, with the command to type.
  var remedy: String {
    let name = ShellWord.quoted(key)
    if let staying { return "another program or a hand wrote it; \(staying.remedy(name))" }
    return "another program or a hand wrote it: move it away "
      + "(redis-cli RENAME \(name) \(ShellWord.quoted(aside)))"
  }
}
