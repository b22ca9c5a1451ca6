package import Model
internal import Store

/// Whose events a trace is read for.
package enum TraceSubject: Sendable {
  case everybody
  case user(String)
  /// The token as it is stored, once for each network that could have it.
  case token([DeviceToken])

  /// - Throws: the rule that the user's name breaks.
  package init(user: String) throws(InvalidField) {
    try TextRule.checkUser(user)
    self = .user(user)
  }

  /// A token whose network is not said.
  /// - Throws: the rule of one network that it breaks, when no network could have it.
  package init(token: String) throws(InvalidField) {
    self = .token(try DeviceToken.candidates(token))
  }

  /// Returns the switches that could keep it from being sent to.
  func switches(app: String, _ installations: [Installation]) -> [KillSwitch] {
    var switches = [KillSwitch.app(app)]
    if case .everybody = self { return switches + Network.allCases.map { .network(app: app, $0) } }
    for network in Network.allCases
    where installations.contains(where: { $0.token.network == network }) {
      switches.append(.network(app: app, network))
    }
    if case .user(let user) = self { return switches + [.user(app: app, user)] }
    for installation in installations.prefix(1) {
      switches.append(.user(app: app, installation.user))
    }
    return switches
  }

  func matches(_ event: TraceEvent) -> Bool {
    switch self {
    case .everybody: true
    case .user(let user): TextRule.isSame(event.user, user)
    case .token(let tokens):
      tokens.contains { $0.network == event.network && TextRule.isSame($0.text, event.token) }
    }
  }
}
