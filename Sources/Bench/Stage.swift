import Configuration
import HTTPClient
import LocalServices
import Model
import Providers

/// Everything that one scenario needs, started for it alone: Redis, the simulator, keys and a configuration.
final class Stage: Sendable {
  let programs: Programs
  let folder: TemporaryFolder
  let redis: RedisServer
  let session: RedisSession
  let simulator: SimulatorProcess
  let simulatorPort: UInt16
  let configurationFile: String
  /// The simulator's, when it keeps one.
  let acceptLogFile: String
  private let provider: any PushProvider

  private init(
    programs: Programs, network: Network, redis: RedisServer, delayMs: Int, keepsAcceptLog: Bool
  ) async throws {
    self.programs = programs
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
      redis: redis.url, endpoint: "https://localhost:\(simulatorPort)",
      authority: authority.certificateFile, key: key, account: account)
    try PrivateFile.write(yaml, to: configurationFile)
    // The worker and h2load each bring a provider token of their own for the same team.
    try PrivateFile.write(
      #"{"provider_token_interval_seconds": 0, "delay_ms": \#(delayMs)}"#,
      to: folder.file("script.json"))
    var arguments = [
      "--port", String(simulatorPort), "--cert", certificate.certificateFile,
      "--key", certificate.keyFile, "--apns-key", "\(key.keyID):\(key.teamID):\(key.file)",
      "--service-account", account.file, "--topic", Self.topic,
      "--script", folder.file("script.json"),
      "--max-concurrent-streams", String(BenchLimits.streams), "--open-from-the-start",
    ]
    if keepsAcceptLog { arguments += ["--accept-log", acceptLogFile] }
    simulator = try await SimulatorProcess(program: programs.simulator, arguments: arguments)
    session = try await RedisSession.open(url: redis.url)
    provider = try Self.provider(network, yaml: yaml, file: configurationFile)
  }

  private static let topic = "com.example.shop"

  /// Runs the body on a stage and takes the stage down after it, whatever happened.
  static func with<Result>(
    _ programs: Programs, network: Network, delayMs: Int = 0, keepsAcceptLog: Bool = false,
    _ body: (Stage) async throws -> Result
  ) async throws -> Result {
    try await RedisServer.with { redis in
      let stage = try await Stage(
        programs: programs, network: network, redis: redis, delayMs: delayMs,
        keepsAcceptLog: keepsAcceptLog)
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(stage)) } catch { result = .failure(error) }
      await stage.session.close()
      await stage.simulator.stop()
      stage.folder.close()
      return try result.get()
    }
  }

  private static func yaml(
    redis: String, endpoint: String, authority: String, key: APNsSigningKey,
    account: FCMServiceAccount
  ) -> String {
    """
    redis: {url: "\(redis)"}
    log: {level: warning}
    worker:
      lanes: 1
      connections_per_lane: \(BenchLimits.connections)
      streams_per_connection: \(BenchLimits.streams)
    apps:
      - id: \(Population.app)
        apns:
          production:
            key_file: \(key.file)
            key_id: \(key.keyID)
            team_id: \(key.teamID)
            topic: \(topic)
            endpoint: \(endpoint)
            ca_file: \(authority)
        fcm:
          service_account_file: \(account.file)
          messages_per_minute: 100000000
          endpoint: \(endpoint)
          ca_file: \(authority)

    """
  }

  private static func provider(
    _ network: Network, yaml: String, file: String
  ) throws -> any PushProvider {
    let configuration = try Configuration.parse(yaml, file: file, environment: [:])
    let directory = try ProviderDirectory(configuration, client: HTTPClient())
    guard
      let provider = directory.provider(
        app: Population.app, network: network, environment: .production)
    else { throw BenchError("there is nothing to measure for \(network.rawValue)") }
    return provider
  }

  /// The request that the worker sends, in every part, for h2load to send as well.
  func yardstickRequest(population: Population, paths: Int) async throws -> YardstickRequest {
    let content = try JobContent(bytes: Array("{\(Population.content)}".utf8))
    let rendered = try provider.render(content, createdAtMs: 0, nowMs: 0)
    let credential = try await provider.credentials.current()
    var headers = rendered.headers.map { "\($0.name): \($0.value)" }
    if let authorization = credential.header { headers.append("authorization: \(authorization)") }
    return YardstickRequest(
      authority: provider.destination.authority, headers: headers, rendered: rendered,
      population: population, paths: paths)
  }
}
