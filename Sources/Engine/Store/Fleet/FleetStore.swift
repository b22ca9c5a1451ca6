package import Redis

/// The part of Redis that a fleet has once: what its workers agree on, the rates that they share, the apps that stand in Redis,
/// who may use the HTTP API, and what operators did. It stands in the shard that is the fleet's home; loop-bound like its connection.
///
/// No call of it touches a key that a function of a `ShardStore` needs in the same step, so the two may be in two Redis
/// (docs/internals/design.md, What a fleet has once).
package struct FleetStore {
  package let connection: RedisConnection
  package let keys: Keys
  package let credentials: CredentialStore
  package let rates: RateStore
  package let accessKeys: AccessKeyStore
  package let apps: AppRecordStore
  package let browserSessions: BrowserSessionStore
  package let acts: ActStore

  /// - Parameters:
  ///   - connection: to the home, made with `StoreLibrary.library`. With a single shard it is that shard's.
  ///   - prefix: the home's.
  package init(connection: RedisConnection, prefix: String) {
    self.connection = connection
    keys = Keys(prefix: prefix)
    let functions = StoreFunctions(connection: connection, keys: keys)
    credentials = CredentialStore(functions: functions)
    rates = RateStore(functions: functions)
    accessKeys = AccessKeyStore(functions: functions)
    apps = AppRecordStore(functions: functions)
    browserSessions = BrowserSessionStore(functions: functions)
    acts = ActStore(functions: functions)
  }
}
