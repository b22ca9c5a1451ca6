internal import Glibc
package import Model

/// All that an operator sets. Every scalar can come from the environment instead of the file.
///
/// The variable of a field is `PUSHPOOL_` and the names on the way to it, in capitals, joined by `_`:
/// `worker.lanes` is `PUSHPOOL_WORKER_LANES`. An app of the file goes by its id with everything but letters
/// and digits written as `_`: `apns.production.key_file` of the app `shop-eu` is
/// `PUSHPOOL_APPS_SHOP_EU_APNS_PRODUCTION_KEY_FILE`. A variable goes before the file; an empty one is
/// refused.
package struct Configuration: Sendable, Equatable {
  package var shards: ShardList
  package var worker: WorkerConfiguration
  package var jobs: JobsConfiguration
  package var apps: [AppConfiguration]
  /// Apps that stand in Redis; nil when there are to be none.
  package var appsInRedis: AppsInRedisConfiguration?
  package var log: LogConfiguration
  package var serve: ServeConfiguration
  /// Every file that it names.
  package private(set) var files: [ConfiguredFile] = []
  /// Fields with a password in them, and the configuration file that they stand in.
  private var passwords: [Password] = []
  /// Variables that begin as ours do and set nothing: worth a warning, not more, since a Kubernetes service
  /// named `pushpool-redis` brings forth `PUSHPOOL_REDIS_PORT`.
  package private(set) var unusedVariables: [String] = []

  private struct Password: Sendable, Equatable {
    let field: String
    let file: String
  }

  package init(
    redis: RedisConfiguration = RedisConfiguration(),
    worker: WorkerConfiguration = WorkerConfiguration(),
    jobs: JobsConfiguration = JobsConfiguration(), apps: [AppConfiguration] = [],
    appsInRedis: AppsInRedisConfiguration? = nil,
    log: LogConfiguration = LogConfiguration(), serve: ServeConfiguration = ServeConfiguration()
  ) {
    shards = ShardList(redis)
    self.worker = worker
    self.jobs = jobs
    self.apps = apps
    self.appsInRedis = appsInRedis
    self.log = log
    self.serve = serve
  }

  package func app(_ id: String) -> AppConfiguration? { apps.first { $0.id == id } }

  /// Whether there is anything to send for, or may be.
  package var hasApps: Bool { !apps.isEmpty || appsInRedis != nil }

  /// Where the home of the fleet is: all of Redis, where the fleet has one shard.
  package var redis: RedisConfiguration {
    get { shards.homeRedis }
    set { shards.homeRedis = newValue }
  }

  /// Where the shard of an app is: the home for one that the configuration does not have.
  package func redis(of app: String) -> RedisConfiguration {
    guard shards.all.count > 1, let name = self.app(app)?.shard else { return redis }
    return shards.all.first { TextRule.isSame($0.id.name, name) }?.redis ?? redis
  }

  /// The shard in which each app lives.
  package var placement: Placement {
    let placed = apps.compactMap { app in app.shard.map { (app.id, $0) } }
    return Placement(
      shards: shards.ids, home: shards.home,
      apps: Dictionary(placed, uniquingKeysWith: { first, _ in first }))
  }

  /// Who goes by a configuration. None of them looks at files that it does not use.
  package enum Reader: Sendable, CaseIterable {
    /// A worker, which uses no file of `serve`.
    case worker
    /// A server, which uses no file of `apps`.
    case server
    /// Somebody who looks at every file, as `pushpool check` does.
    case checker
  }

  /// The files that it names and a reader of it uses.
  package func files(for reader: Reader) -> [ConfiguredFile] {
    files.filter { file in
      switch reader {
      case .worker: !file.isOfServe
      case .server: file.app == nil
      case .checker: true
      }
    }
  }

  /// The files that are not there or cannot be read, and secrets that anybody may replace.
  /// - Parameter apps: the positions of apps whose files alone are looked at; nil for all files that the reader uses.
  package func validateFilesExist(
    for reader: Reader = .checker, ofApps apps: Set<Int>? = nil
  ) -> [ConfigurationError] {
    files(for: reader).compactMap { file in
      if let apps, !(file.app.map(apps.contains) ?? false) { return nil }
      let problem =
        FileCheck.problem(file.path)
        ?? (file.isKey ? openness(of: file.path, to: S_IWOTH) : nil)
        .map { "\($0), so that everybody may replace it" }
      return problem.map {
        ConfigurationError(
          file: file.namedIn, line: file.line, field: file.field, message: "\(file.path) \($0)")
      }
    }
  }

  /// Secrets that everybody on the machine may read, a sentence each. They are taken all the same: what Kubernetes
  /// mounts has mode 0644 unless it is told otherwise.
  package func secretsReadableByAll(for reader: Reader = .checker) -> [String] {
    let inFiles = files(for: reader).compactMap { file in
      (file.isSecret ? openness(of: file.path, to: S_IROTH) : nil).map {
        "\(file.field): \(file.path) \($0), so that everybody on this machine may read the secret; "
          + "give it 0600 (in Kubernetes: defaultMode)"
      }
    }
    return inFiles
      + passwords.compactMap { password in
        openness(of: password.file, to: S_IROTH).map {
          "\(password.field): \(password.file) \($0), so that everybody on this machine may read the password "
            + "in it; give it 0600, or name a redis.password_file"
        }
      }
  }

  private func openness(of path: String, to others: mode_t) -> String? {
    guard let mode = FileCheck.permissions(path), mode & others != 0 else { return nil }
    let octal = String(mode, radix: 8)
    return "has mode \(String(repeating: "0", count: max(0, 4 - octal.count)))\(octal)"
  }

  mutating func adopt(
    files: [ConfiguredFile], passwords: [(field: String, file: String)], unusedVariables: [String]
  ) {
    self.files = files
    self.passwords = passwords.map { Password(field: $0.field, file: $0.file) }
    self.unusedVariables = unusedVariables
  }
}
