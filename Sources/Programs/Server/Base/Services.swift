package import Operations
package import PushpoolConfiguration
internal import Redis
package import Store

/// The means by which routes do their work. One for the process.
package struct Services: Sendable {
  /// The door to Redis, with the rights of the documented user pushpool-server.
  package let session: StoreSession
  package let configuration: Configuration
  /// The keys that seal apps of Redis; nil for a server without them.
  package let appKeys: SealingKeys?
  private let redisAppRates = RedisAppRates()

  package init(
    session: StoreSession, configuration: Configuration, appKeys: SealingKeys? = nil
  ) {
    self.session = session
    self.configuration = configuration
    self.appKeys = appKeys
  }

  /// Runs an operation against the stores of a scope, and tells a failure as a problem.
  package func operate<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreFailure) {
      return try await session.operate(in: scope, about: subjects, body)
    } catch {
      throw Problem(error)
    }
  }

  /// Runs a body against what the fleet has once, and tells a failure as a problem.
  func atHome<Value: Sendable>(
    _ body: @Sendable (FleetStore) async throws(RedisError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreFailure) { return try await session.atHome(body) } catch {
      throw Problem(error)
    }
  }

  /// Puts an app into Redis, and tells a failure as a problem.
  func put(_ app: AppPut) async throws(Problem) -> AppOffice.Answer {
    do throws(StoreFailure) { return try await app.run(in: session) } catch {
      throw Problem(error)
    }
  }

  /// The rates of apps: those of the configuration file, and behind them those of the first apps in Redis by name.
  /// - Returns: the rates, and of how many apps in Redis nothing is told.
  func appRates() async throws(Problem) -> (apps: [AppRates], others: Int) {
    let own = configuration.apps.map { AppRates($0) }
    guard configuration.appsInRedis != nil else { return (own, 0) }
    do throws(StoreFailure) {
      let told = try await redisAppRates.read(
        in: session, besides: Set(configuration.apps.map(\.id)))
      return (own + told.apps, told.others)
    } catch { throw Problem(error) }
  }

  /// Runs a body against the store of one shard, and tells a failure as a problem.
  func run<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreFailure) { return try await session.run(in: scope, about: subjects, body) } catch
    {
      throw Problem(error)
    }
  }
}

extension Patience {
  /// How long a step that may be repeated waits for a Redis that was lost amid it.
  package static var server: Patience {
    Patience(
      attemptsMax: ServerLimits.redisTriesMax, retryMs: ServerLimits.redisRetryMs,
      reconnectTimeoutMs: ServerLimits.redisReconnectMs)
  }
}
