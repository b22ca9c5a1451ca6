internal import Configuration
internal import Reactor
internal import Redis
internal import Store
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

  /// As `run`, for what may be repeated: a lost connection is waited for, within limits.
  func runRepeating<Value: Sendable>(
    _ body: @Sendable (Store) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    guard let store else { throw CommandFailure(.internalError, "the session is closed") }
    var attempt = 1
    while true {
      do throws(RedisError) {
        return try await body(store)
      } catch {
        guard error.isTemporary, attempt < CommandLineLimits.redisAttemptsMax else {
          throw failure(error)
        }
      }
      attempt += 1
      // A server that refuses (OOM, LOADING) leaves the connection ready; give it time as well.
      await loop.sleep(ms: CommandLineLimits.redisRetryMs)
      do throws(RedisError) {
        try await store.connection.waitUntilReady(
          timeoutMs: CommandLineLimits.redisReconnectTimeoutMs)
      } catch {
        throw failure(error)
      }
    }
  }

  func sleep(ms: UInt64) async { await loop.sleep(ms: ms) }

  func close() {
    store?.connection.close()
    store = nil
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
