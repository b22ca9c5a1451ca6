import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator

/// A stage with a second Redis, the shard `eu` of the fleet. The app `other` lives there, and `shop` in `main`, the home.
struct ShardStage: Sendable {
  let stage: PushStage
  let eu: RedisServer
  /// What a test says to the store of `eu`; that of `main` is the stage's.
  let euClient: StageClient
  let configuration: Configuration

  static func with<Result>(
    script: SimulatorScript = .stage(), worker: WorkerConfiguration = .narrow(50),
    eu options: RedisServer.Options = RedisServer.Options(),
    configure: (inout Configuration) -> Void = { _ in },
    _ body: (ShardStage) async throws -> Result
  ) async throws -> Result {
    try await PushStage.with(script: script, worker: worker, configure: SwitchTests.addOther) {
      stage in
      try await RedisServer.with(options) { eu in
        var configuration = stage.configuration
        var redis = RedisConfiguration(
          url: try RedisURL(eu.url), acceptedRisks: configuration.redis.acceptedRisks)
        redis.section = "redis.shards[1]"
        let home = try ShardID("main")
        configuration.shards = ShardList(
          [
            ShardConfiguration(id: home, redis: configuration.redis),
            ShardConfiguration(id: try ShardID("eu"), redis: redis),
          ], home: home)
        configuration.apps[1].shard = "eu"
        configure(&configuration)
        let client = try StageClient(url: eu.url)
        defer { client.stop() }
        return try await body(
          ShardStage(stage: stage, eu: eu, euClient: client, configuration: configuration))
      }
    }
  }

  /// The same as text, for processes.
  var text: ConfigurationText {
    var text = stage.text
    var other = text.apps[0]
    other.id = "other"
    other.members = ["shard: eu"]
    text.apps.append(other)
    text.shards = [
      ConfigurationText.Shard(id: "main", url: stage.redis.url),
      ConfigurationText.Shard(id: "eu", url: eu.url),
    ]
    return text
  }

  /// When a worker beat last in a shard; 0 for never.
  static func beat(_ worker: String, _ client: StageClient) async throws -> Double {
    try await client.command("ZSCORE", "pushpool:workers", worker).string.flatMap { Double($0) }
      ?? 0
  }

  /// A job of the app `other`.
  static func other(_ id: String, _ users: Range<Int>, _ more: String = "") -> String {
    Devices.job(id, users, more).replacing("\"shop\"", with: "\"other\"")
  }

  /// Installs so many devices of each app in its shard.
  func install(_ numbers: Range<Int>) async throws {
    try await stage.client.install(try Devices.apns(numbers))
    try await euClient.install(try numbers.map { try SwitchTests.other($0) })
  }
}
