package import Model
package import Redis
package import Store

/// Finds installations in the stores of all shards. It only reads, and needs no functions.
package struct InstallationLookup {
  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  /// All installations of a user, each store's in the order of their last install.
  package func devices(
    app: String, user: String
  ) async throws(RedisError) -> [StoredInstallation] {
    var devices: [StoredInstallation] = []
    for store in stores {
      devices += try await store.installations.devices(app: app, user: user)
    }
    return devices
  }

  /// The installation of a token; nil when it is bound to nobody.
  package func installation(
    app: String, token: DeviceToken
  ) async throws(RedisError) -> StoredInstallation? {
    try await stores.firstAnswer { store throws(RedisError) in
      try await store.installations.installation(app: app, token: token)
    }
  }

  /// The last departure of a token, or its network's last word about it; nil when none is known of the last days.
  package func departure(
    app: String, token: DeviceToken, nowMs: Int64
  ) async throws(RedisError) -> Departure? {
    try await stores.firstAnswer { store throws(RedisError) in
      try await store.installations.departure(app: app, token: token, nowMs: nowMs)
    }
  }

  /// The last departure of a device of a user; nil when none is known of the last days.
  package func departure(
    app: String, user: String, nowMs: Int64
  ) async throws(RedisError) -> Departure? {
    try await stores.firstAnswer { store throws(RedisError) in
      try await store.installations.departure(app: app, user: user, nowMs: nowMs)
    }
  }
}
