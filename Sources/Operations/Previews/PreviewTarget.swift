package import Model

/// A device that a job is previewed for.
package enum PreviewTarget: Sendable, Equatable {
  case installation(Installation)
  /// Any device of a network, which need not be there.
  case anyDevice(Network, PushEnvironment)

  package var network: Network {
    switch self {
    case .installation(let installation): installation.token.network
    case .anyDevice(let network, _): network
    }
  }

  package var environment: PushEnvironment {
    switch self {
    case .installation(let installation): installation.environment
    case .anyDevice(_, let environment): environment
    }
  }

  /// The kind of push that its device token is for; nil for whatever a job is for.
  var kind: TokenKind? {
    guard case .installation(let installation) = self else { return nil }
    return installation.kind
  }

  /// Empty when it has none.
  var language: String {
    guard case .installation(let installation) = self else { return "" }
    return installation.device.language ?? ""
  }

  /// The badge that the next job that raises it sets.
  var nextBadge: Int {
    guard case .installation(let installation) = self else { return 1 }
    return min(installation.badge ?? 0, Limits.badgeMax - 1) + 1
  }

  /// The text in place of its device token where people read it: a whole one is as good as an address.
  package var shownToken: String {
    switch self {
    case .installation(let installation): installation.token.shortened
    case .anyDevice: "(device token)"
    }
  }

  /// Whether its device token is a `FirebaseInstallationID`.
  var isFID: Bool {
    guard case .installation(let installation) = self else { return false }
    return installation.token.network == .fcm
      && FirebaseInstallationID.isOne(installation.token.text)
  }

  /// Whether a filter admits it. Of any device only the network and the environment are known, and the rest fits.
  func isIn(_ filter: InstallationFilter) -> Bool {
    switch self {
    case .installation(let installation): FilterMatcher(filter).admits(installation)
    case .anyDevice(let network, let environment):
      FilterMatcher(filter.ofBindings).admits(network, environment) { _ in nil }
    }
  }

  /// Whether an audience has it; nil when only Redis knows, and of any device.
  func isIn(_ audience: Audience) -> Bool? {
    guard case .installation(let installation) = self else { return nil }
    return switch audience {
    case .users(let users): users.contains { TextRule.isSame($0, installation.user) }
    case .installations(let tokens):
      tokens.contains {
        $0.network == installation.token.network
          && TextRule.isSame($0.text, installation.token.text)
      }
    case .all: true
    case .channel(let channel):
      installation.channels.contains { TextRule.isSame($0, channel) }
    case .usersKey, .topic: nil
    }
  }
}
