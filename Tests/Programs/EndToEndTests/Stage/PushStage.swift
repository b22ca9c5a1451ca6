import LocalServices
import Logging
import Model
import PushpoolConfiguration
import Reactor
import Redis
import Simulator
import Stage
import Store
import Worker

/// Everything a push needs, real and on this machine: a stage, and on it the networks and the workers in this process.
/// `with` starts it and takes it down.
final class PushStage: Sendable {
  let redis: RedisServer
  let simulator: Simulator
  /// APNs's other environment, where `Endpoints.hasDevelopment` asks for it.
  let development: Simulator?
  let configuration: Configuration
  let folder: TemporaryFolder
  let client: StageClient
  let certificate: IssuedCertificate
  /// APNs's signing key, which its configuration names.
  let keyFile: String
  /// The settings as text, those of the worker left out.
  let text: ConfigurationText
  private let stage: Stage

  /// Both APNs and FCM of the simulator, or other endpoints in its place.
  struct Endpoints {
    var apnsPort: UInt16?
    var hasFCM = true
    var hasJPush = false
    /// Apps beside "shop", on APNs with its settings.
    var moreApps: [String] = []
    /// Keys that APNs knows beside the stage's, such as another one under its id.
    var moreAPNsKeys: [KnownAPNsKey] = []
    /// APNs's development environment as well, played by a second simulator with the same script.
    var hasDevelopment = false
  }

  private init(
    _ stage: Stage, simulator: Simulator, development: Simulator?, _ configuration: Configuration,
    _ text: ConfigurationText, client: StageClient
  ) {
    self.stage = stage
    redis = stage.redis
    folder = stage.folder
    certificate = stage.keys.certificate
    keyFile = stage.keys.apnsKey.file
    self.simulator = simulator
    self.development = development
    self.configuration = configuration
    self.text = text
    self.client = client
  }

  /// Two stages at a time: more would share two cores and be slow rather than parallel.
  private static let places = Places(count: 2)

  static func with<Result>(
    script: SimulatorScript = SimulatorScript(),
    worker: WorkerConfiguration = WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 10),
    endpoints: Endpoints = Endpoints(), mostlyWaits: Bool = false,
    access: [String] = [],
    configure: (inout Configuration) -> Void = { _ in },
    _ body: (PushStage) async throws -> Result
  ) async throws -> Result {
    if mostlyWaits { return try await set(script, worker, endpoints, access, configure, body) }
    await places.enter()
    do {
      let result = try await set(script, worker, endpoints, access, configure, body)
      await places.leave()
      return result
    } catch {
      await places.leave()
      throw error
    }
  }

  private static func set<Result>(
    _ script: SimulatorScript, _ worker: WorkerConfiguration, _ endpoints: Endpoints,
    _ access: [String], _ configure: (inout Configuration) -> Void,
    _ body: (PushStage) async throws -> Result
  ) async throws -> Result {
    try await Stage.with { stage in
      var options = options(stage, script)
      options.accounts.apnsKeys += endpoints.moreAPNsKeys
      let simulator = Simulator(options: options)
      try simulator.start()
      defer { simulator.stop() }
      let development = endpoints.hasDevelopment ? try startDevelopment(simulator.options) : nil
      defer { development?.stop() }
      var text = ConfigurationText(
        redisURL: stage.redis.url, apps: apps(endpoints, stage, development: development))
      text.access = access
      text.acceptedRisks = [.noAppendOnlyFile, .unawaitedReplicas]
      var configuration = try Configuration.parse(
        text.text(stage.keys), file: stage.folder.file("pushpool.yaml"), environment: [:])
      configuration.worker = worker
      configure(&configuration)
      let client = try StageClient(url: stage.redis.url)
      defer { client.stop() }
      return try await body(
        PushStage(
          stage, simulator: simulator, development: development, configuration, text,
          client: client))
    }
  }

  private static func options(_ stage: Stage, _ script: SimulatorScript) -> SimulatorOptions {
    let keys = stage.keys
    var options = SimulatorOptions(
      certificateFile: keys.certificate.certificateFile, keyFile: keys.certificate.keyFile)
    options.port = stage.port
    options.accounts.apnsKeys = [
      KnownAPNsKey(
        keyID: keys.apnsKey.keyID, teamID: keys.apnsKey.teamID, file: keys.apnsKey.file)
    ]
    options.accounts.topics = [NetworkKeys.topic]
    options.accounts.serviceAccountFiles = [keys.serviceAccount.file]
    options.accounts.jpushApps = [
      KnownJPushApp(appKey: keys.jpushApp.appKey, secretFile: keys.jpushApp.file)
    ]
    options.keptAcceptsMax = 1_000_000
    options.script = script
    return options
  }

  private static func startDevelopment(_ options: SimulatorOptions) throws -> Simulator {
    var options = options
    options.port = 0
    options.environment = .development
    let simulator = Simulator(options: options)
    try simulator.start()
    return simulator
  }

  private static func apps(
    _ endpoints: Endpoints, _ stage: Stage, development: Simulator?
  ) -> [ConfigurationText.App] {
    func endpoint(_ port: UInt16) -> String { "https://localhost:\(port)" }
    var places = [PushEnvironment.production: endpoint(endpoints.apnsPort ?? stage.port)]
    if let development { places[.development] = endpoint(development.port) }
    var others: [Network: String] = [:]
    if endpoints.hasFCM { others[.fcm] = stage.endpoint }
    if endpoints.hasJPush { others[.jpush] = stage.endpoint }
    let shop = ConfigurationText.App(apns: places, others: others)
    return [shop] + endpoints.moreApps.map { ConfigurationText.App(id: $0, apns: places) }
  }

  /// Runs workers around the body and drains them after it.
  /// - Parameter configuration: theirs, if it is not the stage's.
  func withWorkers<Result>(
    _ count: Int = 1, of configuration: Configuration? = nil,
    _ body: ([WorkerService]) async throws -> Result
  ) async throws -> Result {
    var log = Logger(label: "pushpool.test")
    log.logLevel = .error
    let workers = try (0..<count).map { _ in
      try WorkerService(configuration: configuration ?? self.configuration, logger: log)
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in workers { group.addTask { try await worker.run() } }
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(workers)) } catch { result = .failure(error) }
      for worker in workers { worker.stop() }
      try await group.waitForAll()
      return try result.get()
    }
  }

  /// Starts `pushpool worker` as a process of its own, with this stage's settings.
  /// - Parameters:
  ///   - crashAt: a point of `CrashPoint`, where the process ends itself.
  ///   - redis: a URL in place of the stage's.
  ///   - more: further variables of its environment.
  ///   - command: another program that runs it, such as one that sets limits.
  ///   - lesser: settings in place of the stage's, the worker's left out; see ``text``.
  func startProcess(
    crashAt: String? = nil, redis: String? = nil, environment more: [String: String] = [:],
    behind command: [String] = [], of lesser: ConfigurationText? = nil
  ) throws -> ChildProcess {
    var environment = more
    environment["PATH"] = "/usr/bin:/bin"
    environment["PUSHPOOL_CRASH_AT"] = crashAt
    environment["PUSHPOOL_REDIS_URL"] = redis
    return try WorkerProcess(
      program: Self.programFolder + "/pushpool",
      configurationFile: try writeConfiguration(lesser ?? text), under: command,
      environment: environment, log: folder.file("worker.log")
    ).child
  }

  /// Writes settings with those of the worker into the stage's folder. - Returns: the file.
  func writeConfiguration(_ text: ConfigurationText? = nil) throws -> String {
    var text = text ?? self.text
    let worker = configuration.worker
    text.worker = [
      "lanes: \(worker.lanes)", "connections_per_lane: \(worker.connectionsPerLane)",
      "streams_per_connection: \(worker.streamsPerConnection)",
      "drain_seconds: \(worker.drainSeconds)", "lease_seconds: \(worker.leaseSeconds)",
      "request_timeout_seconds: \(worker.requestTimeoutSeconds)",
    ]
    return try stage.write(text)
  }

  /// The program stands beside the tests.
  static let programFolder = (try? BuiltProgram.folder()) ?? "."
}
