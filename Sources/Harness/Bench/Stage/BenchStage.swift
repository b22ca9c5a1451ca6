import Glibc
import HTTPClient
import LocalServices
import Model
import Providers
import PushpoolConfiguration
import Reactor
import Stage

/// Everything that one scenario needs, started for it alone: a stage with a simulator, a session and a configuration.
final class BenchStage: Sendable {
  let programs: Programs
  let settings: StageSettings
  let folder: TemporaryFolder
  let redis: RedisServer
  let session: BenchSession
  /// Between workers and Redis; nil when they reach it directly, as the session always does.
  private let redisProxy: FaultProxy?
  /// Between workers and networks; nil when they reach them directly, as the yardstick always does.
  private let egressProxy: EgressProxy?
  let simulator: SimulatorProcess
  let simulatorPort: UInt16
  let configurationFile: String
  /// The simulator's, when it keeps one.
  let acceptLogFile: String
  /// The apps that stand in Redis; nil when workers take none.
  let tenants: TenantShelf?
  private let providers: [any PushProvider]

  private init(
    _ programs: Programs, _ settings: StageSettings, _ stage: Stage, _ tenants: TenantShelf?,
    _ simulator: SimulatorProcess
  ) async throws {
    self.programs = programs
    self.settings = settings
    folder = stage.folder
    redis = stage.redis
    self.simulator = simulator
    simulatorPort = stage.port
    self.tenants = tenants
    acceptLogFile = Self.acceptLogFile(stage)
    redisProxy =
      try settings.hasRedisProxy
      ? FaultProxy(server: .unix(path: stage.redis.socketPath), seed: BenchLimits.proxySeed) : nil
    egressProxy = try settings.hasEgressProxy ? EgressProxy(.http) : nil
    let redisURL = redisProxy.map { "redis://127.0.0.1:\($0.port)" } ?? stage.redis.url
    var configuration = Self.configuration(settings, stage, redisURL: redisURL)
    configuration.sections = tenants.map { [$0.section] } ?? []
    configuration.access = egressProxy.map { ["proxy: \"\($0.url)\""] } ?? []
    configurationFile = try stage.write(configuration)
    providers = try Self.providers(
      settings.networks, yaml: configuration.text(stage.keys), file: configurationFile)
    session = try await BenchSession.open(url: redis.url)
  }

  /// Runs the body on a stage and takes the stage down after it, whatever happened.
  static func with<Result>(
    _ programs: Programs, _ settings: StageSettings, _ body: (BenchStage) async throws -> Result
  ) async throws -> Result {
    try await Stage.with { stage in
      let tenants =
        try settings.tenantsSentFor > 0
        ? TenantShelf(stage, signingKeys: settings.tenantsSentFor) : nil
      var options = Self.simulator(settings, stage)
      options.moreKeyFiles = tenants?.signingKeyFiles ?? []
      return try await stage.withSimulator(programs.simulator, options) { simulator in
        let stage = try await BenchStage(programs, settings, stage, tenants, simulator)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(stage)) } catch { result = .failure(error) }
        await stage.session.close()
        await stage.redisProxy?.close()
        await stage.egressProxy?.close()
        return try result.get()
      }
    }
  }

  private static func acceptLogFile(_ stage: Stage) -> String { stage.folder.file("accepted.log") }

  private static func simulator(
    _ settings: StageSettings, _ stage: Stage
  ) -> SimulatorProcess.Options {
    var options = SimulatorProcess.Options(script: settings.script)
    options.topics = [NetworkKeys.topic]
    options.streams = settings.streams
    options.isOpenFromTheStart = true
    if settings.keepsAcceptLog { options.acceptLog = acceptLogFile(stage) }
    return options
  }

  /// Has calls of functions measured from now on. The system runs Redis before all others then, where this program may say so:
  /// the question is how long a call takes, not for how long another program had its core.
  func watchCalls() async throws {
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(await redis.pid), -20)
    try await session.watchCalls()
  }

  /// Puts Redis so far away from the workers, a round trip; needs the proxy.
  func setRedis(awayMs: UInt64) async {
    // Half of it each way.
    let delayMs = awayMs / 2
    await redisProxy?.set(awayMs == 0 ? .none : .delay(ms: delayMs...delayMs))
  }

  /// Runs the body beside so many workers of one configuration.
  func withWorkers<Result>(
    _ count: Int, _ body: () async throws -> Result
  ) async throws -> Result {
    guard count > 0 else { return try await body() }
    return try await withWorker { _ in try await withWorkers(count - 1, body) }
  }

  /// Runs the body beside a worker, and stops the worker after it.
  func withWorker<Result>(_ body: (WorkerProcess) async throws -> Result) async throws -> Result {
    let worker = try WorkerProcess(
      program: programs.pushpool, configurationFile: configurationFile)
    do {
      let result = try await body(worker)
      await worker.stop()
      return result
    } catch {
      await worker.stop()
      throw error
    }
  }

  /// The port of tcpmux, which nothing has.
  private static let closedEndpoint = "https://localhost:1"

  private static func configuration(
    _ settings: StageSettings, _ stage: Stage, redisURL: String
  ) -> ConfigurationText {
    var configuration = ConfigurationText(
      redisURL: redisURL,
      apps: (0..<settings.apps).map { number in
        ConfigurationText.App(
          id: Population.app(number),
          apns: [.production: settings.isNetworkDown ? Self.closedEndpoint : stage.endpoint],
          // Admission renders a job for each network that its app has: beside FCM, those that are not measured have none.
          others: ConfigurationText.App.others(at: stage.endpoint).filter {
            $0.key == .fcm || settings.networks.contains($0.key)
          },
          messagesPerMinute: settings.messagesPerMinute)
      })
    // The stage's Redis is gone with it.
    configuration.acceptedRisks = [.noAppendOnlyFile]
    configuration.logLevel = "warning"
    configuration.worker = [
      "lanes: \(settings.lanes)", "connections_per_lane: \(BenchLimits.connections)",
      "streams_per_connection: \(BenchLimits.streams)",
    ]
    if settings.isPatient {
      configuration.worker += [
        "request_timeout_seconds: \(BenchLimits.patientSeconds)",
        "lease_seconds: \(BenchLimits.patientSeconds)",
      ]
    }
    return configuration
  }

  private static func providers(
    _ networks: [Network], yaml: String, file: String
  ) throws -> [any PushProvider] {
    let configuration = try Configuration.parse(yaml, file: file, environment: [:])
    let directory = try ProviderDirectory(configuration, client: HTTPClient())
    return try networks.map { network in
      guard
        let provider = directory.provider(
          app: Population.app, network: network, environment: .production)
      else { throw BenchError("there is nothing to measure for \(network.rawValue)") }
      return provider
    }
  }

  /// The requests that the worker sends, in every part, for h2load to send as well; one of each network.
  func yardstickRequests(
    _ population: Population, message: Message
  ) async throws -> [YardstickRequest] {
    let content = try JobContent(bytes: Array("{\(message.content)}".utf8))
    var requests: [YardstickRequest] = []
    for (index, provider) in providers.enumerated() {
      let rendered = try provider.render(content, createdAtMs: 0, nowMs: 0)
      let credential = try await provider.credentials.current()
      var headers = rendered.headers.map { "\($0.name): \($0.value)" }
      if let authorization = credential.header { headers.append("authorization: \(authorization)") }
      let network = settings.networks[index]
      let tokens = (0..<population.installations).lazy
        .filter { population.network($0) == network && !population.isDead($0) }
        .prefix(BenchLimits.yardstickPathsMax).map { population.tokenText($0) }
      requests.append(
        YardstickRequest(
          authority: provider.destination.authority, headers: headers, rendered: rendered,
          tokens: Array(tokens), pushes: min(provider.pushesPerRequest, BenchLimits.batchPushes)))
    }
    return requests
  }
}
