import LocalServices
import Model
import Reactor
import Store

/// Everything that a row needs, started for it alone: Redis, the push networks, workers and a crowd.
final class ChaosStage: Sendable {
  let trial: Trial
  let options: StageOptions
  let redis: RedisServer
  let session: ChaosSession
  let provider: ProviderProcess
  let fleet: Fleet
  let ledger = Ledger()
  let crowd: Crowd
  let acceptLog: String
  let redisProxy: FaultProxy?
  let providerProxy: FaultProxy?
  private let folder: TemporaryFolder

  static let app = "shop"

  private init(_ trial: Trial, _ options: StageOptions, redis: RedisServer) async throws {
    self.trial = trial
    self.options = options
    self.redis = redis
    folder = try TemporaryFolder()
    acceptLog = folder.file("accepted.log")
    // No token of it begins as those that a script singles out.
    crowd = Crowd(
      app: Self.app, count: options.users, devicesPerUser: options.devicesPerUser,
      silentEvery: options.silentEvery, prefix: "c0",
      hasDevelopment: options.hasDevelopment)
    let authority = try CertificateAuthority(folder: folder.path)
    let certificate = try authority.issueServer()
    let key = try APNsSigningKey(folder: folder.path)
    let port = try FreePort.find()
    provider = try await ProviderProcess(
      program: trial.programs.simulator,
      arguments: [
        "--port", String(port), "--cert", certificate.certificateFile, "--key",
        certificate.keyFile, "--apns-key", "\(key.keyID):\(key.teamID):\(key.file)",
        "--accept-log", acceptLog,
      ], script: options.health, scriptFile: folder.file("script.json"))
    redisProxy =
      options.hasRedisProxy
      ? try FaultProxy(server: .unix(path: redis.socketPath), seed: trial.seed) : nil
    providerProxy =
      options.hasProviderProxy
      ? try FaultProxy(server: .tcp(host: "127.0.0.1", port: port), seed: trial.seed) : nil
    let directURL = redis.tcpURL ?? redis.url
    let redisURL = redisProxy.map { "redis://\(options.redisHost):\($0.port)" } ?? directURL
    let configurationFile = folder.file("pushpool.yaml")
    let lesserFile = folder.file("lesser.yaml")
    for (file, isLesser) in [(configurationFile, false), (lesserFile, true)] {
      try PrivateFile.write(
        Self.yaml(
          options, isLesser: isLesser, redis: redisURL, port: providerProxy?.port ?? port,
          directPort: port, key: key, authority: authority.certificateFile),
        to: file)
    }
    session = try await ChaosSession.open(url: directURL)
    fleet = Fleet(
      program: trial.programs.pushpool, configurationFile: configurationFile,
      lesserFile: lesserFile, folder: folder.path)
  }

  /// A file of the stage's folder.
  func file(_ name: String) -> String { folder.file(name) }

  /// Runs the body beside its workers and takes everything down after it, whatever happened.
  static func with<Result>(
    _ trial: Trial, _ options: StageOptions, _ body: (ChaosStage) async throws -> Result
  ) async throws -> Result {
    var server = RedisServer.Options()
    server.appendOnly = options.appendOnly
    if options.appendOnly { server.configuration = ["appendfsync \(options.appendSync)"] }
    if options.hasReplica {
      server.tcp = true
      server.configuration += ["repl-diskless-sync-delay 0"]
    }
    return try await RedisServer.with(server) { redis in
      let stage = try await ChaosStage(trial, options, redis: redis)
      let result: Swift.Result<Result, any Error>
      do {
        try await stage.install()
        for _ in 0..<options.workers { try await stage.fleet.start() }
        result = .success(try await body(stage))
      } catch { result = .failure(error) }
      await stage.fleet.killAll()
      await stage.session.close()
      await stage.provider.stop()
      await stage.redisProxy?.close()
      await stage.providerProxy?.close()
      stage.folder.close()
      return try result.get()
    }
  }

  private static func yaml(
    _ options: StageOptions, isLesser: Bool, redis: String, port: UInt16, directPort: UInt16,
    key: APNsSigningKey, authority: String
  ) -> String {
    var yaml = """
      redis: {url: "\(redis)"}
      log: {level: info}
      worker:
        lanes: \(options.lanes)
        connections_per_lane: \(options.connections)
        streams_per_connection: \(options.streams)
        lease_seconds: \(options.leaseSeconds)
        unrouted_seconds: \(options.unroutedSeconds)
        drain_seconds: \(ChaosLimits.drainSeconds)
        request_timeout_seconds: \(options.requestTimeoutSeconds)
      apps:

      """
    for app in [app] + options.otherApps where !isLesser || !options.lesserLack.contains(app) {
      let port = app != Self.app && options.sparesOtherApps ? directPort : port
      let host = options.hosts[app] ?? "localhost"
      yaml += """
          - id: \(app)
            apns:

        """
      for environment in ["production", "development"]
      where environment == "production" || (options.hasDevelopment && !isLesser) {
        yaml += """
                \(environment):
                  key_file: \(key.file)
                  key_id: \(key.keyID)
                  team_id: \(key.teamID)
                  topic: com.example.shop
                  endpoint: https://\(host):\(port)
                  ca_file: \(authority)

          """
      }
    }
    return yaml
  }

  private func install() async throws {
    try await install(crowd)
  }

  /// Gives every user of a crowd an installation.
  func install(_ crowd: Crowd) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var running = 0
      for first in stride(from: 0, to: crowd.count, by: StoreLimits.importBatchMax) {
        if running == ChaosLimits.importsInFlight {
          try await group.next()
          running -= 1
        }
        let numbers = first..<min(first + StoreLimits.importBatchMax, crowd.count)
        let session = self.session
        group.addTask {
          try await session.install(try numbers.map { try crowd.installation($0) })
        }
        running += 1
      }
      try await group.waitForAll()
    }
  }
}
