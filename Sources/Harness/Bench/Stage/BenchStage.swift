import Configuration
import HTTPClient
import LocalServices
import Model
import Providers

/// Everything that one scenario needs, started for it alone: Redis, the simulator, keys and a configuration.
final class BenchStage: Sendable {
  let programs: Programs
  let settings: StageSettings
  let folder: TemporaryFolder
  let redis: RedisServer
  let session: BenchSession
  let simulator: SimulatorProcess
  let simulatorPort: UInt16
  let configurationFile: String
  /// The simulator's, when it keeps one.
  let acceptLogFile: String
  private let providers: [any PushProvider]

  private init(programs: Programs, settings: StageSettings, redis: RedisServer) async throws {
    self.programs = programs
    self.settings = settings
    self.redis = redis
    folder = try TemporaryFolder()
    let authority = try CertificateAuthority(folder: folder.path)
    let certificate = try authority.issueServer()
    let key = try APNsSigningKey(folder: folder.path)
    simulatorPort = try FreePort.find()
    let account = try FCMServiceAccount(
      folder: folder.path, tokenURI: "https://localhost:\(simulatorPort)/token")
    configurationFile = folder.file("pushpool.yaml")
    acceptLogFile = folder.file("accepted.log")
    let yaml = Self.yaml(
      settings, redis: redis.url, endpoint: "https://localhost:\(simulatorPort)",
      authority: authority.certificateFile, key: key, account: account)
    try PrivateFile.write(yaml, to: configurationFile)
    try PrivateFile.write(settings.script, to: folder.file("script.json"))
    var arguments = [
      "--port", String(simulatorPort), "--cert", certificate.certificateFile,
      "--key", certificate.keyFile, "--apns-key", "\(key.keyID):\(key.teamID):\(key.file)",
      "--service-account", account.file, "--topic", Self.topic,
      "--script", folder.file("script.json"),
      "--max-concurrent-streams", String(BenchLimits.streams), "--open-from-the-start",
    ]
    // What libcurl itself costs is the question, not what a server makes of its resets.
    if settings.transport == "curl" { arguments.append("--tolerate-resets") }
    if settings.keepsAcceptLog { arguments += ["--accept-log", acceptLogFile] }
    simulator = try await SimulatorProcess(program: programs.simulator, arguments: arguments)
    session = try await BenchSession.open(url: redis.url)
    providers = try Self.providers(settings.networks, yaml: yaml, file: configurationFile)
  }

  private static let topic = "com.example.shop"

  /// Runs the body on a stage and takes the stage down after it, whatever happened.
  static func with<Result>(
    _ programs: Programs, _ settings: StageSettings, _ body: (BenchStage) async throws -> Result
  ) async throws -> Result {
    try await RedisServer.with { redis in
      let stage = try await BenchStage(programs: programs, settings: settings, redis: redis)
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(stage)) } catch { result = .failure(error) }
      await stage.session.close()
      await stage.simulator.stop()
      stage.folder.close()
      return try result.get()
    }
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

  private static let patience = """

      request_timeout_seconds: \(BenchLimits.patientSeconds)
      lease_seconds: \(BenchLimits.patientSeconds)
    """

  private static func yaml(
    _ settings: StageSettings, redis: String, endpoint: String, authority: String,
    key: APNsSigningKey, account: FCMServiceAccount
  ) -> String {
    func transport(_ indent: String) -> String {
      settings.transport.map { "\n\(indent)transport: \($0)" } ?? ""
    }
    return """
      redis: {url: "\(redis)"}
      log: {level: warning}
      worker:
        lanes: \(settings.lanes)
        connections_per_lane: \(BenchLimits.connections)
        streams_per_connection: \(BenchLimits.streams)\(settings.isPatient ? patience : "")
      apps:
        - id: \(Population.app)
          apns:
            production:
              key_file: \(key.file)
              key_id: \(key.keyID)
              team_id: \(key.teamID)
              topic: \(topic)
              endpoint: \(endpoint)
              ca_file: \(authority)\(transport("        "))
          fcm:
            service_account_file: \(account.file)
            messages_per_minute: 100000000
            endpoint: \(endpoint)
            ca_file: \(authority)\(transport("      "))

      """
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
          tokens: Array(tokens)))
    }
    return requests
  }
}
