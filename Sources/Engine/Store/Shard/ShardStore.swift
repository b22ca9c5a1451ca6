package import Model
package import Redis

/// The program's view of a shard: a place of Redis and a prefix, which hold the jobs and the installations of whole apps, and
/// what their functions look at or write in the same call. A noun each; loop-bound like its connection. What a fleet has
/// once is its `FleetStore`.
package struct ShardStore {
  package let id: ShardID
  package let connection: RedisConnection
  package let keys: Keys
  package let installations: InstallationStore
  package let audiences: AudienceStore
  package let variables: VariableStore
  package let badges: BadgeStore
  package let jobs: JobQueue
  package let chunks: ChunkQueue
  package let deadLetters: DeadLetters
  package let backlog: BacklogStore
  package let metrics: MetricsStore
  package let workers: WorkerStore
  package let libraries: LibraryStore
  package let streams: StreamStore
  package let registration: RegistrationStore
  package let alarms: AlarmStore
  package let switches: SwitchStore
  package let routes: RouteStore
  package let placement: PlacementStore
  package let traces: TraceStore
  package let settings: SettingsStore
  package let keyTypes: KeyTypes

  /// - Parameters:
  ///   - connection: made with `StoreLibrary.library`.
  ///   - prefix: of every key; `{…}` as a whole for a cluster.
  ///   - id: by which what leaves the store is told from that of others.
  package init(connection: RedisConnection, prefix: String, id: ShardID = .only) {
    self.id = id
    self.connection = connection
    keys = Keys(prefix: prefix)
    let functions = StoreFunctions(connection: connection, keys: keys)
    installations = InstallationStore(functions: functions)
    audiences = AudienceStore(functions: functions)
    variables = VariableStore(functions: functions)
    badges = BadgeStore(functions: functions)
    jobs = JobQueue(functions: functions)
    chunks = ChunkQueue(functions: functions)
    deadLetters = DeadLetters(functions: functions, shard: id)
    backlog = BacklogStore(functions: functions)
    metrics = MetricsStore(functions: functions)
    workers = WorkerStore(functions: functions)
    libraries = LibraryStore(functions: functions)
    streams = StreamStore(functions: functions)
    registration = RegistrationStore(connection: connection)
    alarms = AlarmStore(functions: functions)
    switches = SwitchStore(functions: functions)
    routes = RouteStore(functions: functions)
    placement = PlacementStore(functions: functions)
    traces = TraceStore(functions: functions)
    settings = SettingsStore(functions: functions)
    keyTypes = KeyTypes(functions: functions)
  }

  /// The server's clock, in whole seconds since the epoch.
  package func serverSeconds() async throws(RedisError) -> Int64 {
    try await serverMs() / 1_000
  }

  /// The server's clock, in milliseconds since the epoch.
  package func serverMs() async throws(RedisError) -> Int64 {
    let time = try await connection.call(RedisCommand("TIME")).array ?? []
    let seconds = min(max(Int64(time.first?.integer ?? 0), 0), Limits.instantMsMax / 1_000)
    let microseconds = min(max(Int64(time.last?.integer ?? 0), 0), 999_999)
    return min(seconds * 1_000 + microseconds / 1_000, Limits.instantMsMax)
  }
}
