internal import Logging
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Reactor
internal import ServiceLifecycle
internal import Store
internal import Synchronization

/// The parts of a server put together: the session with Redis, the routes, and the listeners.
struct ServerProcess {
  private let log: Logger
  private let state = ServingState()
  private let group: ServiceGroup
  private let session: StoreSession

  /// - Parameters:
  ///   - loop: one that runs, for the session with Redis.
  ///   - descriptorsMax: how many files the process may open.
  init(
    _ configuration: Configuration, loop: EventLoop, descriptorsMax: Int
  ) async throws(CommandFailure) {
    do throws(SystemError) { try LogBootstrap.start(configuration.log) } catch {
      throw CommandFailure(.internalError, "\(error)")
    }
    log = Logger(label: "pushpool-server")
    for variable in configuration.unusedVariables {
      log.warning("\(variable) is set but is no setting of pushpool")
    }
    for sentence in configuration.secretsReadableByAll(for: .server) { log.warning("\(sentence)") }
    let appKeys: SealingKeys?
    do throws(ConfigurationError) { appKeys = try SealingKeys(configuration) } catch {
      throw CommandFailure(.configuration, error.description)
    }
    let remarks = RedisRemarks(log)
    do throws(StoreFailure) {
      session = try await StoreSession.opening(
        configuration, as: .server,
        for: StoreSession.Client(name: "pushpool-server", version: PushpoolVersion.text), on: loop
      ) { remarks.note($1, of: $0) }
    } catch {
      throw CommandFailure(error)
    }
    let services = Services(
      session: session, configuration: configuration, appKeys: appKeys)
    let gate = try Self.gate(services)
    let routes = ServedRoutes.all(
      gate: gate, feed: FleetFeed(services), readiness: Readiness(session))
    let serve = configuration.serve
    var listeners: [any Service] = []
    // The last one stops first: metrics are told until the API's requests are over.
    if let address = serve.metricsListen {
      listeners.append(
        HTTPListener(
          MetricsResponder(MetricsPage(session, state)), purpose: "metrics", address: address,
          option: "--metrics", connectionsMax: ServerLimits.metricsConnectionsMax, state: state,
          log: log))
    }
    let room = descriptorsMax - ServerLimits.descriptorsKept - ServerLimits.metricsConnectionsMax
    listeners.append(
      HTTPListener(
        APIResponder(routes, gate: gate, services: services, state: state, log: log),
        purpose: "the API and the dashboard", address: serve.listen, option: "--listen",
        connectionsMax: min(ServerLimits.connectionsMax, max(16, room)), state: state, log: log))
    group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: listeners, logger: log.ofLibraries))
  }

  private static func gate(_ services: Services) throws(CommandFailure) -> Gatekeeper {
    var keys: [UserTokenKey] = []
    for (index, token) in services.configuration.serve.userTokens.enumerated() {
      do throws(CredentialFileError) { keys.append(try UserTokenKey(token)) } catch {
        throw CommandFailure(.configuration, "serve.user_tokens[\(index)].key_file: \(error)")
      }
    }
    do throws(InvalidField) {
      let proxies = try TrustedProxies(services.configuration.serve.trustedProxies)
      return Gatekeeper(services, userTokens: keys, proxies: proxies)
    } catch {
      throw CommandFailure(.configuration, "serve.trusted_proxies: \(error.message)")
    }
  }

  /// Serves until the first signal, and then until what is in hand is done, for `ServerLimits.stopSeconds` at most.
  func run(until stop: StopSignals) async throws(CommandFailure) {
    let group = group
    let state = state
    let log = log
    stop.onFirst {
      state.stop()
      log.notice("stopping: requests in hand are finished; another signal does not wait for them")
      Task {
        await state.drain {
          try? await Task.sleep(for: .milliseconds(ServerLimits.drainLookMs))
        }
        await group.triggerGracefulShutdown()
      }
      Task {
        try? await Task.sleep(for: .seconds(ServerLimits.stopSeconds))
        log.warning(
          "ended with requests in hand, which took longer than \(ServerLimits.stopSeconds) s")
        ServerProgram.end(.ok)
      }
    }
    do { try await group.run() } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.internalError, "\(error)")
    }
    await session.close()
  }
}

/// Tells the log when Redis goes and comes, once each.
final class RedisRemarks: Sendable {
  private let log: Logger
  /// Without those that there is no news of yet.
  private let wasReady = Mutex<[ShardID: Bool]>([:])

  init(_ log: Logger) { self.log = log }

  func note(_ failure: StoreFailure?, of shard: ShardID) {
    let isReady = failure == nil
    let before = wasReady.withLock { $0.updateValue(isReady, forKey: shard) }
    guard before != isReady else { return }
    if let failure {
      let whose = shard.isOnly ? "requests" : "requests that need it"
      log.warning("\(failure.description); \(whose) are answered with 503 until it is back")
    } else {
      log.notice(shard.isOnly ? "Redis can be used" : "Redis of shard \(shard.name) can be used")
    }
  }
}
