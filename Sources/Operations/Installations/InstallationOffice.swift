package import Model
package import Redis
package import Store

/// Changes the installations of all shards. Each change is tried once. It may be repeated, but a strict install then finds
/// its own binding.
package struct InstallationOffice {
  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  /// Binds a token to a user.
  /// - Parameters:
  ///   - strict: whether a token that is bound already is a conflict, which changes nothing, instead of this user's from now on.
  ///   - store: of the shard in which the user's bindings are. A binding in another shard is not seen.
  /// - Returns: the status `.conflict` only if strict; the object id and the previous user are then those that have the token.
  /// - Throws: `.server("INVALID", …)` without a user.
  package static func install(
    _ installation: Installation, strict: Bool = false, in store: ShardStore
  ) async throws(RedisError) -> InstallResult {
    strict
      ? try await store.installations.create(installation)
      : try await store.installations.install(installation)
  }

  /// Removes the binding of a token, wherever it is.
  /// - Parameter owner: remove it only if it is this user's; nil for whosever it is.
  package func uninstall(
    _ token: DeviceToken, app: String, owner: String? = nil
  ) async throws(RedisError) -> UninstallAnswer {
    let answer = try await stores.firstAnswer { store throws(RedisError) in
      let answer = try await store.installations.uninstall(app: app, token: token, owner: owner)
      return answer == .absent ? nil : answer
    }
    return answer ?? .absent
  }

  /// Removes all bindings that a user has, wherever they are.
  /// - Returns: how many there were.
  @discardableResult
  package func uninstallAll(app: String, user: String) async throws(RedisError) -> Int {
    var count = 0
    for store in stores {
      count += try await store.installations.uninstallAll(app: app, user: user)
    }
    return count
  }

  /// Sets the badge from which the next job that raises it goes on. Nothing is sent.
  /// - Parameters:
  ///   - badge: from 0 to `Limits.badgeMax`.
  ///   - token: the one installation of the user that is meant; nil for all.
  /// - Returns: of how many installations it was set.
  package func setBadge(
    _ badge: Int, app: String, user: String, token: DeviceToken? = nil
  ) async throws(RedisError) -> Int {
    var count = 0
    for store in stores {
      count += try await store.badges.set(badge, app: app, user: user, token: token)
    }
    return count
  }
}
