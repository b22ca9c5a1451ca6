import LocalServices
import Model
import Reactor
import Stage
import Store

/// Everything that a row needs, started for it alone: a stage with a simulator, faults between, workers and a crowd.
final class ChaosStage: Sendable {
  let trial: Trial
  let options: StageOptions
  let redis: RedisServer
  let standby: Standby
  let session: ChaosSession
  let simulator: SimulatorProcess
  let fleet: Fleet
  let ledger = Ledger()
  let crowd: Crowd
  let acceptLog: String
  let redisProxy: FaultProxy?
  let providerProxy: FaultProxy?
  /// The folder that workers take for the system's, where the crowd is in made-up zones.
  let timeZones: TimeZoneFolder?
  let configuration: SharedConfiguration
  private let folder: TemporaryFolder

  static let app = "shop"

  private init(
    _ trial: Trial, _ options: StageOptions, _ stage: Stage, _ standby: Standby,
    _ simulator: SimulatorProcess
  ) async throws {
    self.trial = trial
    self.options = options
    self.simulator = simulator
    redis = stage.redis
    self.standby = standby
    folder = stage.folder
    acceptLog = Self.acceptLog(stage)
    crowd = options.crowd
    timeZones = options.crowd.timeZones > 0 ? try TimeZoneFolder(path: folder.file("zones")) : nil
    redisProxy =
      options.redis.hasProxy
      ? try FaultProxy(server: .unix(path: redis.socketPath), seed: trial.seed) : nil
    providerProxy =
      options.hasProviderProxy
      ? try FaultProxy(server: .tcp(host: "127.0.0.1", port: stage.port), seed: trial.seed) : nil
    let directURL = standby.url ?? redis.tcpURL ?? redis.url
    let redisURL = redisProxy.map { "redis://\(options.redis.proxyHost):\($0.port)" } ?? directURL
    var text = Self.configuration(
      options, redis: redisURL, port: providerProxy?.port ?? stage.port, directPort: stage.port)
    text.prefix = standby.prefix
    Self.spread(&text, over: standby.shards, options)
    if options.hasTenants {
      let key = try SharedConfiguration.makeSealingKey(stage.folder.path)
      text.sections.append("apps_in_redis: {key_files: ['\(key)']}")
    }
    configuration = SharedConfiguration(file: try stage.write(text), text: text, keys: stage.keys)
    fleet = Fleet(
      program: trial.programs.pushpool, configurationFile: configuration.file,
      lesserFile: try stage.write(Self.lesser(text, options), to: "lesser.yaml"),
      folder: folder.path, environment: timeZones.map { ["TZDIR": $0.path] } ?? [:])
    session = try await ChaosSession.open(
      url: directURL, prefix: standby.prefix, awaitsReplica: options.redis.awaitsReplica,
      producersURL: options.redis.areJobsAstray ? standby.shards.first?.url : nil)
  }

  private static func acceptLog(_ stage: Stage) -> String { stage.folder.file("accepted.log") }

  /// A file of the stage's folder.
  func file(_ name: String) -> String { folder.file(name) }

  /// Runs the body beside its workers and takes everything down after it, whatever happened. Throws if a worker ended by
  /// itself.
  static func with<Result>(
    _ trial: Trial, _ options: StageOptions, _ body: (ChaosStage) async throws -> Result
  ) async throws -> Result {
    try await Stage.with(options.redis.server) { stage in
      var simulated = SimulatorProcess.Options(script: options.health)
      simulated.acceptLog = acceptLog(stage)
      if options.hasSecondKeys {
        let folder = stage.folder.path
        simulated.moreKeyFiles = [try SharedConfiguration.makeSecondKey(folder)]
        simulated.moreAccountFiles = [
          try SharedConfiguration.makeSecondAccount(folder, port: stage.port)
        ]
      }
      return try await stage.withSimulator(trial.programs.simulator, simulated) { simulator in
        try await Standby.with(options, stage.redis) { standby in
          let stage = try await ChaosStage(trial, options, stage, standby, simulator)
          return try await stage.run(body)
        }
      }
    }
  }

  private func run<Result>(_ body: (ChaosStage) async throws -> Result) async throws -> Result {
    let result: Swift.Result<Result, any Error>
    do {
      try await install()
      for _ in 0..<options.workers { try await fleet.start() }
      let made = try await body(self)
      try await fleet.expectLoyalty()
      result = .success(made)
    } catch { result = .failure(error) }
    await fleet.killAll()
    await session.close()
    await redisProxy?.close()
    await providerProxy?.close()
    return try result.get()
  }

  private static func configuration(
    _ options: StageOptions, redis: String, port: UInt16, directPort: UInt16
  ) -> ConfigurationText {
    var configuration = ConfigurationText(
      redisURL: redis,
      apps: ([app] + options.otherApps).map { app in
        let port = app != Self.app && options.sparesOtherApps ? directPort : port
        let endpoint = "https://\(options.hosts[app] ?? "localhost"):\(port)"
        var places: [PushEnvironment: String] = [.production: endpoint]
        if options.crowd.hasDevelopment { places[.development] = endpoint }
        return ConfigurationText.App(
          id: app, apns: places,
          others: options.crowd.network == .apns ? [:] : [options.crowd.network: endpoint])
      })
    let endpoint = "https://localhost:\(port)"
    configuration.apps += options.fcmApps.map {
      ConfigurationText.App(id: $0, apns: [:], others: [.fcm: endpoint])
    }
    // The stage's Redis is gone with it.
    configuration.acceptedRisks = [.noAppendOnlyFile]
    configuration.logLevel = "info"
    configuration.worker = [
      "lanes: \(options.lanes)", "connections_per_lane: \(options.connections)",
      "streams_per_connection: \(options.streams)", "lease_seconds: \(options.leaseSeconds)",
      "unrouted_seconds: \(options.unroutedSeconds)",
      "drain_seconds: \(ChaosLimits.drainSeconds)",
      "request_timeout_seconds: \(options.requestTimeoutSeconds)",
    ]
    return configuration
  }

  /// Puts another app into each other shard.
  private static func spread(
    _ text: inout ConfigurationText, over servers: [RedisServer], _ options: StageOptions
  ) {
    guard !servers.isEmpty, var other = text.apps.first else { return }
    var shards = [ConfigurationText.Shard(id: "main", url: text.redisURL)]
    for (number, server) in servers.enumerated() {
      let id = "other\(number)"
      shards.append(ConfigurationText.Shard(id: id, url: server.url))
      other.id = id
      other.members = ["shard: \(id)"]
      text.apps.append(other)
    }
    text.apps[0].members = ["shard: main"]
    if options.redis.isHomeElsewhere { shards.swapAt(0, 1) }
    text.shards = shards
  }

  /// Returns the configuration without some apps, and without credentials for development.
  private static func lesser(
    _ configuration: ConfigurationText, _ options: StageOptions
  ) -> ConfigurationText {
    var lesser = configuration
    lesser.apps.removeAll { options.lesserLack.contains($0.id) }
    for index in lesser.apps.indices { lesser.apps[index].apns[.development] = nil }
    return lesser
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
