/// Who receives a job.
package enum Audience: Sendable, Equatable {
  /// Every installation of these users; each user once, in the order given.
  case users([String])
  /// Every one of these installations; each once, in the order given.
  case installations([DeviceToken])
  /// Every installation of the users whose ids are the members of this Redis SET, ZSET or LIST.
  case usersKey(String)
  /// Every installation of the users who subscribe to this topic.
  case topic(String)
  /// The installations that are in this channel.
  case channel(String)
  /// Every installation of the app.
  case all

  var isOneInstallation: Bool {
    if case .installations(let tokens) = self { tokens.count == 1 } else { false }
  }

  /// Users or installations named; nil when only Redis knows.
  package var count: Int? {
    switch self {
    case .users(let users): users.count
    case .installations(let tokens): tokens.count
    case .usersKey, .topic, .channel, .all: nil
    }
  }
}
