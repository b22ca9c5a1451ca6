/// All that an operator sets. Every scalar can come from the environment instead of the file.
///
/// The variable of a field is `PUSHPOOL_` and the names on the way to it, in capitals, joined by `_`:
/// `worker.lanes` is `PUSHPOOL_WORKER_LANES`. An app of the file goes by its id with everything but letters
/// and digits written as `_`: `apns.production.key_file` of the app `shop-eu` is
/// `PUSHPOOL_APPS_SHOP_EU_APNS_PRODUCTION_KEY_FILE`. A variable goes before the file; an empty one counts as
/// not set.
package struct Configuration: Sendable, Equatable {
  package var redis: RedisConfiguration
  package var worker: WorkerConfiguration
  package var apps: [AppConfiguration]
  package var log: LogConfiguration
  /// Every file that it names.
  package private(set) var files: [ConfiguredFile] = []
  /// Variables that begin as ours do and set nothing: worth a warning, not more, since a Kubernetes service
  /// named `pushpool-redis` brings forth `PUSHPOOL_REDIS_PORT`.
  package private(set) var unusedVariables: [String] = []

  package init(
    redis: RedisConfiguration = RedisConfiguration(),
    worker: WorkerConfiguration = WorkerConfiguration(), apps: [AppConfiguration] = [],
    log: LogConfiguration = LogConfiguration()
  ) {
    self.redis = redis
    self.worker = worker
    self.apps = apps
    self.log = log
  }

  package func app(_ id: String) -> AppConfiguration? { apps.first { $0.id == id } }

  /// The files that are not there or cannot be read.
  package func validateFilesExist() -> [ConfigurationError] {
    files.compactMap { file in
      FileCheck.problem(file.path).map {
        ConfigurationError(
          file: file.namedIn, line: file.line, field: file.field, message: "\(file.path) \($0)")
      }
    }
  }

  mutating func adopt(files: [ConfiguredFile], unusedVariables: [String]) {
    self.files = files
    self.unusedVariables = unusedVariables
  }
}
