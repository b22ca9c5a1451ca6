internal import HTTPClient
internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Reactor
internal import Redis
internal import Store

/// The place where apps of Redis stand, and what the lanes know of their routes.
struct RedisAppsPlace: Sendable {
  let endpoint: RedisEndpoint
  let prefix: String
  let routes: FleetRoutes
  /// For how long apps that cannot be read are no alarm, and for how long a worker that starts waits for them.
  var patienceMs = WorkerLimits.redisAppsPatienceMs
}

/// Reads the apps of Redis, and later what has changed of them, over a connection of its own; loop-bound. It keeps no record: what
/// was read is made into providers, a page at a time.
final class RedisAppsWatch {
  /// Why nothing is taken.
  enum Trouble: Error {
    case redis(RedisError)
    /// The process cannot have these apps.
    case refused(ConfigurationError)
  }

  private let connection: RedisConnection
  private let apps: AppRecordStore
  private let routes: SharedAppRoutes
  /// The last change that was read; nil when there was none yet.
  private(set) var change: String?
  /// Whether all records have been read.
  private(set) var hasRead = false
  /// Why the process could not have the apps as they are, and until when that is not tried again, by `FleetClock.uptimeMs`: making
  /// providers of many apps takes long, and nothing of it passes soon.
  private var refusal: (error: ConfigurationError, untilMs: Int64)?
  let patienceMs: Int64
  /// Why there is no connection; nil while there is one.
  private(set) var loss: RedisError?
  /// When something failed first since all was well, by `FleetClock.uptimeMs`; nil while all is well.
  private var failedAtMs: Int64?
  /// The reason that the log was told last.
  private var toldReason: String?

  init(_ place: RedisAppsPlace, on loop: EventLoop) throws(TLSError) {
    connection = try RedisConnection(loop: loop, endpoint: place.endpoint)
    patienceMs = place.patienceMs
    apps = FleetStore(connection: connection, prefix: place.prefix).apps
    routes = SharedAppRoutes(
      ShardStore(connection: connection, prefix: place.prefix).routes, of: apps)
    connection.onLost = { [weak self] in self?.loss = $0 }
    connection.onReady = { [weak self] in self?.loss = nil }
  }

  func start() { connection.connect() }

  func stop() { connection.close() }

  /// Waits for a connection for a moment.
  func waitUntilReady(ms: UInt64) async {
    do throws(RedisError) { try await connection.waitUntilReady(timeoutMs: ms) } catch {}
  }

  /// For how long not all went well, whatever did meanwhile: a page that can never be read is no progress.
  var failingMs: Int64 { failedAtMs.map { FleetClock.uptimeMs - $0 } ?? 0 }

  /// All went well.
  func noteSuccess() { (failedAtMs, toldReason) = (nil, nil) }

  /// Whether the log was told another reason last, or none since all was well.
  func isNews(_ reason: String) -> Bool {
    defer { toldReason = reason }
    return toldReason != reason
  }

  // MARK: The apps

  /// Reads what has changed since it read last.
  /// - Parameters:
  ///   - before: the configuration and the apps that are in force.
  ///   - keys: open the secrets.
  /// - Returns: the apps as they are now; nil when nothing has changed.
  func read(
    after before: LoadedConfiguration, keys: SealingKeys, client: HTTPClient, clock: WallClock
  ) async throws(Trouble) -> ConfiguredApps? {
    if let refusal, FleetClock.uptimeMs < refusal.untilMs { throw .refused(refusal.error) }
    guard hasRead else {
      return try await readAll(after: before, keys: keys, client: client, clock: clock)
    }
    var ids = before.apps.toBeRead
    var last = change
    var hasMore = true
    while hasMore {
      switch try await asking({ () async throws(RedisError) in try await apps.changes(since: last) }
      ) {
      case .nothing: hasMore = false
      case .these(let changed, let upTo, let more):
        ids.formUnion(changed)
        (last, hasMore) = (upTo, more)
      case .unknown:
        return try await readAll(after: before, keys: keys, client: client, clock: clock)
      }
    }
    guard !ids.isEmpty else {
      change = last
      return nil
    }
    try await checkCount()
    var next = RedisAppsChange(
      of: before.apps, before.configuration, ids: ids, client: client, clock: clock)
    let all = ids.sorted()
    for first in stride(from: 0, to: all.count, by: StoreLimits.appsPage) {
      let page = Array(all[first..<min(first + StoreLimits.appsPage, all.count)])
      let values = try await asking { () async throws(RedisError) in try await apps.find(page) }
      for (id, value) in zip(page, values) { next.take(id, Self.finding(id, value, keys)) }
    }
    let taken = try whole(next)
    change = last
    return taken
  }

  private func readAll(
    after before: LoadedConfiguration, keys: SealingKeys, client: HTTPClient, clock: WallClock
  ) async throws(Trouble) -> ConfiguredApps {
    // First: what changes from here on is read again.
    let last = try await asking { () async throws(RedisError) in try await apps.lastChange() }
    try await checkCount()
    var next = RedisAppsChange(
      of: before.apps, before.configuration, ids: nil, client: client, clock: clock)
    var cursor: String?
    repeat {
      let place = cursor
      let page = try await asking { () async throws(RedisError) in try await apps.page(after: place)
      }
      for (id, value) in page.values { next.take(id, Self.finding(id, value, keys)) }
      cursor = page.cursor
    } while cursor != nil
    let taken = try whole(next)
    (change, hasRead) = (last, true)
    return taken
  }

  /// Refuses more apps than anybody can add but by hand.
  private func checkCount() async throws(Trouble) {
    let count = try await asking { () async throws(RedisError) in try await apps.count() }
    guard count <= ConfigurationLimits.redisAppsMax else {
      throw .refused(
        ConfigurationError(
          file: apps.key, line: nil, field: "",
          message: "has \(count) apps, and must have at most \(ConfigurationLimits.redisAppsMax): "
            + "remove those that nobody uses"))
    }
  }

  private func whole(_ change: RedisAppsChange) throws(Trouble) -> ConfiguredApps {
    do throws(ConfigurationError) {
      let apps = try change.apps()
      refusal = nil
      return apps
    } catch {
      refusal = (error, FleetClock.uptimeMs + WorkerLimits.loadAgainMs)
      throw .refused(error)
    }
  }

  /// An app as its record has it.
  private static func finding(
    _ id: String, _ value: [UInt8]?, _ keys: SealingKeys
  ) -> RedisAppsChange.Finding {
    // No job can name it: somebody wrote the field by hand.
    guard let value, (try? TextRule.checkApp(id)) != nil else { return .gone }
    do throws(AppRecordFault) {
      let record = try AppRecord(id: id, value: value)
      return RedisAppsChange.Finding(
        id, record.form, secrets: try record.open(keys),
        sealedBy: keys.ids(among: record.keyIDs))
    } catch { return RedisAppsChange.Finding(faultAt: error.pointer, error.message) }
  }

  // MARK: Their routes

  /// Whether the shared routes have all that this process has to say.
  var isTold: Bool { routes.isTold }

  /// Says where apps can be sent to, before the lanes have them.
  func tell(_ loaded: LoadedConfiguration) async throws(Trouble) {
    try await asking { () async throws(RedisError) in try await routes.tell(loaded) }
  }

  /// Says that apps are gone, after the lanes have let go of them.
  func tellGone(_ loaded: LoadedConfiguration) async throws(Trouble) {
    try await asking { () async throws(RedisError) in try await routes.tellGone(loaded) }
  }

  /// Mends what is wrong in some of the shared routes. To be called when all changes were taken.
  func mendRoutes(_ loaded: LoadedConfiguration) async throws(Trouble) {
    try await asking { () async throws(RedisError) in try await routes.mend(loaded) }
  }

  /// Has all said anew: Redis has lost some of it, or other apps are in force.
  func forgetTold() { routes.forget() }

  private func asking<Value>(
    _ body: () async throws(RedisError) -> Value
  ) async throws(Trouble) -> Value {
    do throws(RedisError) { return try await body() } catch {
      failedAtMs = failedAtMs ?? FleetClock.uptimeMs
      throw .redis(error)
    }
  }
}
