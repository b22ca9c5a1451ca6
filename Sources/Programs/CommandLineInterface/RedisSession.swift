package import Model
package import Operations
package import ProgramSetup
package import PushpoolConfiguration
internal import Reactor
package import Redis
package import Store
internal import Typesetting

/// A command's session with Redis. A failure ends the command, with the status that it has there.
package struct RedisSession: Sendable {
  private let session: StoreSession

  /// Connects, or says at once why that cannot be; with several shards it does so when one is first needed.
  /// - Parameters:
  ///   - user: the documented user with the fewest rights that may do what the command does.
  ///   - onlyReads: as of `StoreSession.open`.
  package static func open(
    _ configuration: Configuration, as user: DocumentedUser, onlyReads: Bool = false
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
  func warnOfRisks(in scope: ShardScope, on console: Console) async {
    for sentence in await session.risks(in: scope) { console.note("warning: \(sentence)") }
  }

  /// Which app lives in which shard.
  var placement: Placement { session.placement }

  /// Runs a body against the store of one shard, as `StoreSession.run`.
  package func run<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.run(in: scope, about: subjects, body) } catch
    {
      throw CommandFailure(error)
    }
  }

  /// Begins a body and does not wait for it, as `StoreSession.begin`.
  package func begin<Value: Sendable>(
    in shard: ShardID,
    _ body: @escaping @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Task<Result<Value, RedisError>, Never> {
    do throws(StoreFailure) { return try await session.begin(in: shard, body) } catch {
      throw CommandFailure(error)
    }
  }

  /// Runs a body against the stores of a scope, as `StoreSession.ask`.
  func ask<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) { return try await session.ask(in: scope, about: subjects, body) } catch
    {
      throw CommandFailure(error)
    }
  }

  /// Looks into the shards that are there.
  /// - Returns: what the body found, and the shards that it was not asked of.
  func look<Value: Sendable>(
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> (found: Value, absences: [ShardAbsence]) {
    let (found, present) = try await ask(in: .present) { stores throws(RedisError) in
      (try await body(stores), stores.map(\.id))
    }
    return (found, await session.absences(beside: present))
  }

  /// Looks into the shards that are there, and says on standard error which are not.
  /// - Parameter app: whose shard alone is looked into; nil for all.
  func look<Value: Sendable>(
    of app: String? = nil, on console: Console,
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(CommandFailure) -> Value {
    if let app { return try await ask(in: .app(app), body) }
    let (found, absences) = try await look(body)
    for absence in absences { console.note("warning: \(absence.sentence)") }
    return found
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

  /// Runs an operation against the stores of a scope, as `StoreSession.operate`.
  func operate<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(StoreFailure) {
      return try await session.operate(in: scope, about: subjects, body)
    } catch {
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
    in shard: ShardID, after error: RedisError, attempt: Int, about subjects: [KeySubject]
  ) async throws(CommandFailure) {
    do throws(StoreFailure) {
      try await session.waitToRepeat(
        in: shard, after: error, attempt: attempt, about: subjects
      ) {
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
