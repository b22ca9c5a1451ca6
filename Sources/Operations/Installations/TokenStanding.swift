package import Model
package import Redis
package import Store

/// All that is known of a device token: who has it, since when, and what became of it last.
package struct TokenStanding: Sendable, Equatable {
  package let token: DeviceToken
  /// Nil while it is nobody's.
  package let installation: Installation?
  /// Since when the token is its user's, in epoch milliseconds; nil while it is nobody's.
  package let sinceMs: Int64?
  /// The last departure, or the last word of the network; nil when none is known of the last days.
  package let departure: Departure?

  package init(token: DeviceToken, stored: StoredInstallation?, departure: Departure?) {
    self.token = token
    installation = stored?.installation
    sinceMs = stored?.movedAtMs ?? stored?.installation.createdAtMs
    self.departure = departure
  }

  /// Returns it with the names of installations' fields; instants in epoch milliseconds.
  package func json(app: String) -> JSONValue {
    var object: JSONObject = [
      "app": .string(app), "network": .string(token.network.rawValue),
      "token": .string(token.text),
    ]
    object["user"] = installation.map { .string($0.user) }
    object["since"] = sinceMs.map { .integer($0) }
    object["installation"] = installation.map { $0.json() }
    object["departure"] = departure.map { $0.json() }
    return .object(object)
  }
}

extension Departure {
  /// Returns what became of it, without the token; instants in epoch milliseconds.
  package func json() -> JSONValue {
    var object: JSONObject = ["cause": .string(cause.rawValue), "at": .integer(atMs)]
    for (name, text) in [("user", user), ("by", by), ("job", job)] where !text.isEmpty {
      object[name] = .string(text)
    }
    return .object(object)
  }

  /// Returns what became of a user's device, with its token and without the user.
  package func jsonWithToken() -> JSONValue {
    guard case .object(var object) = json() else { return .null }
    object["user"] = nil
    object["network"] = .string(token.network.rawValue)
    object["token"] = .string(token.text)
    return .object(object)
  }
}

extension InstallationLookup {
  /// Returns what is known of a token: once for each network that could have it and of which anything is known.
  /// - Parameters:
  ///   - tokens: the token as it is stored, once for each network.
  ///   - nowMs: epoch milliseconds.
  package func standings(
    app: String, tokens: [DeviceToken], nowMs: Int64
  ) async throws(RedisError) -> [TokenStanding] {
    var standings: [TokenStanding] = []
    for token in tokens {
      let found = try await installation(app: app, token: token)
      let departure = try await departure(app: app, token: token, nowMs: nowMs)
      if found == nil && departure == nil { continue }
      standings.append(
        TokenStanding(token: token, stored: found, departure: departure))
    }
    return standings
  }
}
