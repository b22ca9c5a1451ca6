internal import Model
internal import Operations
package import ProgramSetup
package import PushpoolConfiguration
internal import Reactor
package import Redis
package import Store
internal import Typesetting

/// A command's session with Redis. A failure ends the command, with the status that it has there.
package struct RedisSession: Sendable {
  private let session: StoreSession

  /// Connects, or says at once why that cannot be.
  /// - Parameters:
  ///   - user: the documented user with the fewest rights that may do what the command does.
  ///   - onlyReads: as of `StoreSession.open`.
  package static func open(
    _ configuration: RedisConfiguration, as user: DocumentedUser, onlyReads: Bool = false
  ) async throws(CommandFailure) -> RedisSession {
    guard let loop = Program.loop else {
      throw CommandFailure(.internalError, "there is no loop to talk to Redis on")
    }
    let client = StoreSession.Client(name: "pushpool-cli", version: PushpoolVersion.text)
    do throws(StoreFailure) {
      return RedisSession(
        session: try await StoreSession.open(
          configuration, as: user, onlyReads: onlyReads, for: client, on: loop))
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Tells of what is unsafe about Redis and not accepted: for commands that bring what it is to keep.
  func warnOfRisks(_ configuration: RedisConfiguration, on console: Console) async {
    for finding in await session.risks(configuration) {
      console.note("warning: \(finding.sentence)")
    }
  }

  /// Runs a body against the store of a shard, as `StoreSession.run`.
  package func run<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.run(about: subjects, body) } catch {
      throw CommandFailure(error)
    }
  }

  /// Begins a body and does not wait for it, as `StoreSession.begin`.
  package func begin<Value: Sendable>(
    _ body: @escaping @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async -> Task<Result<Value, RedisError>, Never> {
    await session.begin(body)
  }

  /// Runs a body against the stores of all shards, as `StoreSession.ask`.
  func ask<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.ask(about: subjects, body) } catch {
      throw CommandFailure(error)
    }
  }

  /// Runs a body against what the fleet has once, as `StoreSession.atHome`.
  func atHome<Value: Sendable>(
    _ body: @Sendable (FleetStore) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.atHome(body) } catch {
      throw CommandFailure(error)
    }
  }

  /// Puts an app into Redis.
  func put(_ app: AppPut) async throws(CommandFailure) -> AppOffice.Answer {
    do throws(StoreFailure) { return try await app.run(in: session) } catch {
      throw CommandFailure(error)
    }
  }

  /// Runs an operation against the stores of all shards, as `StoreSession.operate`.
  func operate<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.operate(about: subjects, body) } catch {
      throw CommandFailure(error)
    }
  }

  /// Reads an entry that a person named.
  /// - Throws: when it names no shard and the fleet has several, or names one that there is not.
  func entry(_ text: String) throws(CommandFailure) -> ShardEntry {
    do throws(InvalidField) { return try ShardEntry(text, of: session.shards) } catch {
      throw CommandFailure(.badInput, "\(DisplayText.printable(text)): \(error.message)")
    }
  }

  /// Waits until what failed for the nth time may be tried again; throws also when a signal has come.
  func waitToRepeat(
    after error: RedisError, attempt: Int, about subjects: [KeySubject]
  ) async throws(CommandFailure) {
    do throws(StoreFailure) {
      try await session.waitToRepeat(after: error, attempt: attempt, about: subjects) {
        .ofCommands()
      }
    } catch {
      throw CommandFailure(error)
    }
  }

  package func sleep(ms: UInt64) async { await session.sleep(ms: ms) }

  package func close() async { await session.close() }
}

extension Patience {
  /// Returns the patience of a person who waits at a terminal.
  /// - Parameter goesOn: unless it is until a signal comes.
  static func ofCommands(
    _ goesOn: @escaping () -> Bool = { !Interrupts.shared.hasCome }
  ) -> Patience {
    Patience(
      attemptsMax: CommandLineLimits.redisAttemptsMax, retryMs: CommandLineLimits.redisRetryMs,
      reconnectTimeoutMs: CommandLineLimits.redisReconnectTimeoutMs, goesOn: goesOn)
  }
}
