internal import HTTPClient
internal import Model
internal import Providers
internal import PushpoolConfiguration
package import Reactor
internal import Redis
internal import Store
internal import Typesetting

/// Looks at everything that a worker stands on: the configuration and its files, Redis with the apps that it keeps, and the push
/// networks. It changes nothing and delivers nothing.
package struct Doctor: Sendable {
  private let check: ConfigurationCheck
  private let isOffline: Bool
  private let app: String?
  private let client: StoreSession.Client
  private let loop: EventLoop
  private let answerMs: UInt64

  /// - Parameters:
  ///   - isOffline: whether the networks are left out.
  ///   - app: the only app whose networks are asked, and the only one of Redis that is opened; nil for all.
  ///   - client: as whom Redis is asked.
  ///   - loop: one that runs, and outlives the examination.
  ///   - answerMs: how long a network has for its answer, and to be reached.
  package init(
    _ check: ConfigurationCheck, isOffline: Bool, app: String? = nil,
    for client: StoreSession.Client, on loop: EventLoop,
    answerMs: UInt64 = OperationsLimits.networkAnswerMs
  ) {
    self.check = check
    self.isOffline = isOffline
    self.app = app
    self.client = client
    self.loop = loop
    self.answerMs = answerMs
  }

  /// Looks at all, each for a bounded time.
  /// - Parameter progress: hears how many steps are done, and how many there are as far as that is known.
  package func examine(progress: (_ done: Int, _ total: Int) -> Void) async -> Diagnosis {
    var diagnosis = Diagnosis()
    diagnosis.add(check.findings)
    guard let configuration = check.configuration else { return diagnosis }
    progress(1, 2)
    let session = await open(configuration, &diagnosis)
    var redis = RedisExamination()
    if let session { redis = await ask(session, configuration, &diagnosis) }
    progress(2, 2)
    let exchanges = HTTPClient()
    let now = WallClock.system
    // Tokens are dated as workers date them, by the clock of Redis.
    let ahead = redis.aheadMs
    let clock = WallClock(nowMs: { now.nowMs() - ahead }, aheadMs: { ahead })
    await look(
      at: configuration, redis.apps, with: exchanges, clock,
      share: BorrowedTokens(session: diagnosis.lacksRedis ? nil : session, clock: clock),
      &diagnosis, progress)
    await session?.close()
    exchanges.shutdown()
    return diagnosis
  }

  // MARK: Redis

  private func open(
    _ configuration: Configuration, _ diagnosis: inout Diagnosis
  ) async -> StoreSession? {
    guard !check.errors.contains(where: { $0.field.hasPrefix("redis") }), check.omitted == 0 else {
      diagnosis.add([
        DoctorFinding(.note, "redis", "was not asked, because of errors in the configuration")
      ])
      return nil
    }
    do throws(StoreFailure) {
      // It reads, and asks for no functions.
      return try await StoreSession.open(
        configuration, as: .dashboard, for: client, on: loop)
    } catch {
      let finding = DoctorFinding(.error, "redis", error.description, partedBy: "; ")
      if error.kind == .misconfigured {
        diagnosis.add([finding])
      } else {
        diagnosis.addLack(ofRedis: finding)
      }
      return nil
    }
  }

  /// - Returns: the examination of the home.
  private func ask(
    _ session: StoreSession, _ configuration: Configuration, _ diagnosis: inout Diagnosis
  ) async -> RedisExamination {
    var home = RedisExamination()
    let app = app
    for shard in configuration.shards.all {
      do throws(StoreFailure) {
        let examination = try await session.run(in: .shard(shard.id)) { store throws(RedisError) in
          try await RedisExamination.of(store, at: shard.redis, for: configuration, app: app)
        }
        diagnosis.add(examination.findings.map { $0.of(shard.id) })
        if shard.id == configuration.shards.home { home = examination }
      } catch {
        let finding = DoctorFinding(.error, "redis", error.description, partedBy: "; ")
        diagnosis.addLack(ofRedis: finding.of(shard.id))
      }
    }
    return home
  }

  // MARK: Apps and networks

  private func look(
    at configuration: Configuration, _ examined: ExaminedApps?, with exchanges: HTTPClient,
    _ clock: WallClock, share: BorrowedTokens, _ diagnosis: inout Diagnosis,
    _ progress: (Int, Int) -> Void
  ) async {
    guard check.omitted == 0 else { return }
    let apps: ConfiguredApps
    do throws(ConfigurationError) {
      apps = try Self.apps(of: configuration, examined, exchanges, clock)
    } catch {
      return diagnosis.add([DoctorFinding(.error, "configuration", error.description)])
    }
    if let examined, app == nil || !examined.all.isEmpty {
      diagnosis.add(RedisAppsVerdict(apps.redis, of: examined).findings)
    }
    if let app, configuration.app(app) == nil, examined?.has(app) != true {
      diagnosis.add([Self.lack(of: app, isSure: examined != nil)])
    }
    // What is made up in place of what is wrong is sent to nobody.
    let wrong = Set(
      check.errors.compactMap { $0.app }.filter { configuration.apps.indices.contains($0) }
        .map { configuration.apps[$0].id })
    let networks = NetworksExamination(
      entries: apps.directory.entries.filter {
        !wrong.contains($0.app) && (app == nil || $0.app == app)
      },
      configuration: configuration, forms: examined?.forms ?? [:], client: exchanges,
      clock: clock, loop: loop, answerMs: answerMs)
    diagnosis.add(networks.ends())
    guard !isOffline else {
      if !networks.entries.isEmpty {
        diagnosis.add([DoctorFinding(.note, "networks", "were left out (--offline)")])
      }
      return
    }
    apps.directory.share(through: share)
    diagnosis.add(await networks.findings { progress(2 + $0, 2 + $1) })
  }

  /// - Parameter isSure: whether the apps of Redis were looked at.
  private static func lack(of app: String, isSure: Bool) -> DoctorFinding {
    let name = FieldPointer.printable(app)
    return isSure
      ? DoctorFinding(
        .error, "configuration", "has no app \(name), and none of this name was found in Redis",
        remedy: "see the names of apps in the file, and with pushpool app list")
      : DoctorFinding(
        .note, "configuration", "has no app \(name), and the apps in Redis were not looked at",
        remedy: "name apps_in_redis.key_files where they are missing, or see what is said of Redis")
  }

  /// The apps of the file, and beside them those of Redis, as a worker has them.
  private static func apps(
    of configuration: Configuration, _ examined: ExaminedApps?, _ exchanges: HTTPClient,
    _ clock: WallClock
  ) throws(ConfigurationError) -> ConfiguredApps {
    let own = try ConfiguredApps(configuration, client: exchanges, clock: clock)
    guard let examined else { return own }
    var change = RedisAppsChange(
      of: own, configuration, ids: nil, client: exchanges, clock: clock)
    for app in examined.all { change.take(app.id, app.finding) }
    return try change.apps()
  }
}

extension ConfigurationCheck {
  /// The check as findings; one that all is well when it is.
  var findings: [DoctorFinding] {
    var findings = errors.map { DoctorFinding(.error, "configuration", $0.description) }
    if omitted > 0 {
      findings.append(
        DoctorFinding(
          .error, "configuration", "\(file) has \(omitted) more errors",
          remedy: "see them with pushpool check, after those above are corrected"))
    }
    findings += openSecrets.map { DoctorFinding(.warning, "files", $0, partedBy: "; ") }
    findings += remarks.map { DoctorFinding(.note, "configuration", $0) }
    if isRight {
      findings.append(
        DoctorFinding(
          .good, "configuration",
          "\(file) has no error, and \(filesCount) files were looked into"))
    }
    return findings
  }
}
