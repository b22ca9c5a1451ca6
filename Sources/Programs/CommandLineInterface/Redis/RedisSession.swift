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
  private var store: Store?

  private init(loop: EventLoop, place: String) {
    self.loop = loop
    self.place = place
  }

  /// Connects, or says at once why that cannot be.
  /// - Parameter functions: whether the command calls functions, which are then loaded where they are missing.
  static func open(
    _ configuration: RedisConfiguration, functions: Bool
  ) async throws(CommandFailure) -> RedisSession {
    guard let loop = Program.loop else {
      throw CommandFailure(.internalError, "there is no loop to talk to Redis on")
    }
    let session = RedisSession(loop: loop, place: "\(configuration.url)")
    try await session.connect(configuration, functions: functions)
    return session
  }

  private func connect(
    _ configuration: RedisConfiguration, functions: Bool
  ) async throws(CommandFailure) {
    let connection: RedisConnection
    do {
      var endpoint = try RedisEndpoint(configuration)
      endpoint.clientName = "pushpool-cli"
      connection = try RedisConnection(
        loop: loop, endpoint: endpoint,
        library: functions ? StoreLibrary.library : nil)
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
        "cannot use Redis at \(place): \(failure); start it, or name another with --redis URL")
    }
    // For other clients: that it fails is no reason not to do what was asked for.
    if functions { _ = try? await store?.registration.provide() }
  }

  /// Runs a body on the session's loop, against the store.
  func run<Value: Sendable>(
    _ body: @Sendable (Store) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    guard let store else { throw CommandFailure(.internalError, "the session is closed") }
    do throws(RedisError) {
      return try await body(store)
    } catch {
      throw failure(error)
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
  func operate<Value: Sendable>(
    _ body: @Sendable ([Store]) async throws(OperationError) -> Value
  ) async throws(CommandFailure) -> Value {
    guard let store else { throw CommandFailure(.internalError, "the session is closed") }
    do throws(OperationError) {
      return try await body([store])
    } catch {
      throw failure(error)
    }
  }

  /// Waits until what failed for the nth time may be tried again.
  /// - Throws: when it failed for good, was tried often enough, or a signal has come.
  func waitToRepeat(after error: RedisError, attempt: Int) async throws(CommandFailure) {
    guard let store else { throw failure(error) }
    do throws(OperationError) {
      try await Patience.ofCommands().wait(for: store, after: error, attempt: attempt)
    } catch {
      throw failure(error)
    }
  }

  func sleep(ms: UInt64) async { await loop.sleep(ms: ms) }

  func close() {
    store?.connection.close()
    store = nil
  }

  private func failure(_ error: OperationError) -> CommandFailure {
    switch error {
    case .redis(let error): failure(error)
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

  private func failure(_ error: RedisError) -> CommandFailure {
    switch error {
    case .server("INVALID", let message): CommandFailure(.badInput, message)
    case .server("WRONGTYPE", _):
      CommandFailure(
        .badInput, "\(error); another program uses the same prefix: choose one with --prefix")
    case .server, .connectionLost, .timeout, .unavailable, .tooManyPending:
      CommandFailure(.unavailable, "Redis at \(place): \(error)")
    case .protocolViolation, .unexpectedReply:
      CommandFailure(.internalError, "Redis at \(place): \(error)")
    }
  }
}
