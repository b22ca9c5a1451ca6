import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Stage
import Store
import TestSupport

/// Apps in the Redis of a stage, with a key that the configuration names.
struct Tenants {
  let stage: DoctorStage
  let keys: SealingKeys

  init(_ stage: DoctorStage) throws {
    self.stage = stage
    keys = SealingKeys(.random())
    try PrivateFile.write(keys.newest.fileText, to: stage.stage.folder.file("apps.key"))
  }

  /// The section of a configuration that names the key.
  var section: String {
    "\napps_in_redis: {key_files: ['\(stage.stage.folder.file("apps.key"))']}\n"
  }

  /// An account at the stage's JPush.
  /// - Parameter secret: nil for the one that JPush knows.
  func jpush(_ secret: String? = nil) throws -> JSONValue {
    let keys = stage.stage.keys
    let known = try SecretFile.read(keys.jpushApp.file, field: "master_secret").text
    return [
      "app_key": .string(keys.jpushApp.appKey),
      "master_secret": .string(secret ?? known),
      "endpoint": .string(stage.stage.endpoint),
      "ca": .string(TextFile.read(keys.authorityFile, bytesMax: 1 << 16) ?? ""),
    ]
  }

  /// Puts an app.
  /// - Parameter keys: nil for those that the configuration names.
  func put(_ id: String, _ document: JSONValue, keys: SealingKeys? = nil) async throws {
    let value = try AppRecord(
      try AppDocument(document, id: id), id: id, instead: nil, keys: keys ?? self.keys, nowMs: 1,
      by: "test"
    ).value()
    try await write(id, value)
  }

  /// Writes whatever may stand there.
  func write(_ id: String, _ value: [UInt8]) async throws {
    let endpoint = stage.stage.redis.endpoint
    try await stage.lane.run { lane in
      let redis = try await lane.connect(endpoint)
      defer { redis.close() }
      var command = RedisCommand("HSET", "pushpool:apps", id)
      command.append(value)
      _ = try await redis.call(command)
    }
  }

  /// Looks at these apps, and those of a configuration.
  /// - Parameter text: without the section; nil for no other app.
  func diagnosis(
    _ text: String? = nil, isOffline: Bool = false, app: String? = nil
  ) async throws -> Diagnosis {
    let alone = "redis: {url: '\(stage.stage.redis.url)', accepted_risks: no_append_only_file}"
    return try await stage.diagnosis(
      of: (text ?? alone) + section, isOffline: isOffline, app: app)
  }
}
