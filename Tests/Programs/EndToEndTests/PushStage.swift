import Configuration
import Glibc
import LocalServices
import Logging
import Model
import Reactor
import Redis
import Simulator
import Store
import Testing
import Worker

/// Everything a push needs, real and on this machine: a redis-server, the simulator over TLS, keys and
/// accounts, and workers in this process. `with` starts it and takes it down.
final class PushStage: Sendable {
  let redis: RedisServer
  let simulator: Simulator
  /// APNs's other environment, where `Endpoints.hasDevelopment` asks for it.
  let development: Simulator?
  let configuration: Configuration
  let folder: TemporaryFolder
  let client: StageClient
  let certificate: IssuedCertificate
  /// The settings as text, those of the worker left out.
  let yaml: String

  /// Both APNs and FCM of the simulator, or other endpoints in its place.
  struct Endpoints {
    var apnsPort: UInt16?
    var hasFCM = true
    /// Apps beside "shop", on APNs with its settings.
    var moreApps: [String] = []
    /// APNs's development environment as well, played by a second simulator with the same script.
    var hasDevelopment = false
  }

  private init(
    redis: RedisServer, simulator: Simulator, development: Simulator?,
    configuration: Configuration, folder: TemporaryFolder, client: StageClient,
    certificate: IssuedCertificate, yaml: String
  ) {
    self.development = development
    self.yaml = yaml
    self.redis = redis
    self.simulator = simulator
    self.configuration = configuration
    self.folder = folder
    self.client = client
    self.certificate = certificate
  }

  /// Two stages at a time: more would share two cores and be slow rather than parallel.
  private static let places = Places(count: 2)

  static func with<Result>(
    script: SimulatorScript = SimulatorScript(),
    worker: WorkerConfiguration = WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 10),
    endpoints: Endpoints = Endpoints(), mostlyWaits: Bool = false,
    access: String = "",
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
    _ access: String, _ configure: (inout Configuration) -> Void,
    _ body: (PushStage) async throws -> Result
  ) async throws -> Result {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(folder: folder.path)
    let certificate = try authority.issueServer(names: ["localhost", "127.0.0.1"])
    let key = try APNsSigningKey(folder: folder.path, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    var options = SimulatorOptions(
      certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
    options.apnsKeys = [KnownAPNsKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", file: key.file)]
    options.topics = ["com.example.shop"]
    options.keptAcceptsMax = 1_000_000
    options.script = script
    // The account's token_uri needs the port, and the simulator needs the account.
    let port = try FreePort.find()
    options.port = port
    let account = try FCMServiceAccount(
      folder: folder.path, projectID: "demo-shop", tokenURI: "https://localhost:\(port)/token")
    options.serviceAccountFiles = [account.file]
    let simulator = Simulator(options: options)
    try simulator.start()
    defer { simulator.stop() }
    let development = endpoints.hasDevelopment ? try startDevelopment(options) : nil
    defer { development?.stop() }
    return try await RedisServer.with(RedisServer.Options()) { redis in
      let yaml = yaml(
        redis: redis.url, port: simulator.port, developmentPort: development?.port, endpoints,
        key: key, account: account, authority, access: access)
      let configuration = try Configuration.parse(
        yaml, file: folder.file("pushpool.yaml"), environment: [:])
      var adjusted = configuration
      adjusted.worker = worker
      configure(&adjusted)
      let client = try StageClient(url: redis.url)
      defer { client.stop() }
      let stage = PushStage(
        redis: redis, simulator: simulator, development: development, configuration: adjusted,
        folder: folder, client: client, certificate: certificate, yaml: yaml)
      let result = try await body(stage)
      folder.close()
      return result
    }
  }

  private static func startDevelopment(_ options: SimulatorOptions) throws -> Simulator {
    var options = options
    options.port = 0
    options.environment = .development
    let simulator = Simulator(options: options)
    try simulator.start()
    return simulator
  }

  private static func yaml(
    redis: String, port: UInt16, developmentPort: UInt16?, _ endpoints: Endpoints,
    key: APNsSigningKey, account: FCMServiceAccount, _ authority: CertificateAuthority,
    access: String
  ) -> String {
    func apns(_ environment: String, _ port: UInt16) -> String {
      """

            \(environment):
              key_file: \(key.file)
              key_id: ABC123DEFG
              team_id: DEF123GHIJ
              topic: com.example.shop
              endpoint: https://localhost:\(port)
              ca_file: \(authority.certificateFile)
              \(access)
      """
    }
    var text = """
      redis: {url: "\(redis)"}
      apps:
        - id: shop
          apns:
      """
    text += apns("production", endpoints.apnsPort ?? port)
    if let developmentPort { text += apns("development", developmentPort) }
    let shop = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
      .joined(separator: "\n")
    let more = endpoints.moreApps.map { "\n" + shop.replacing("id: shop", with: "id: \($0)") }
    guard endpoints.hasFCM else { return text + more.joined() }
    text += """

          fcm:
            service_account_file: \(account.file)
            endpoint: https://localhost:\(port)
            ca_file: \(authority.certificateFile)
            \(access)
      """
    return text + more.joined()
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
  ///   - lesser: settings in place of the stage's, the worker's left out; see ``yaml``.
  func startProcess(
    crashAt: String? = nil, redis: String? = nil, environment more: [String: String] = [:],
    behind command: [String] = [], of lesser: String? = nil
  ) throws -> ChildProcess {
    var environment = more
    environment["PATH"] = "/usr/bin:/bin"
    environment["PUSHPOOL_CRASH_AT"] = crashAt
    environment["PUSHPOOL_REDIS_URL"] = redis
    let file = folder.file("pushpool.yaml")
    let worker = configuration.worker
    let text =
      (lesser ?? yaml) + """

        worker:
          lanes: \(worker.lanes)
          connections_per_lane: \(worker.connectionsPerLane)
          streams_per_connection: \(worker.streamsPerConnection)
          drain_seconds: \(worker.drainSeconds)
          lease_seconds: \(worker.leaseSeconds)
          request_timeout_seconds: \(worker.requestTimeoutSeconds)

        """
    let stream = try #require(fopen(file, "we"))
    fputs(text, stream)
    fclose(stream)
    let words = command + [Self.programFolder + "/pushpool", "worker", "--config", file]
    return try ChildProcess(
      words[0], Array(words.dropFirst()),
      environment: environment.count > 1 ? environment : nil,
      output: .discard, error: .file(folder.file("worker.log")))
  }

  /// The program stands beside the tests.
  static let programFolder = (try? BuiltProgram.folder()) ?? "."
}
