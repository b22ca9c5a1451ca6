internal import Model

/// The shapes of what stands in the paths of installations, users and topics, for the API's document.
enum PathSchema {
  /// The schema of a parameter; nil for one of another group.
  static func of(_ parameter: String) -> JSONValue? {
    switch parameter {
    case "app":
      InstallationSchema.word(
        "._-", bytesMax: Limits.appBytesMax, "The app, as the configuration names it")
    case "network": Schema.choice(Network.allCases.map(\.rawValue), "The push network")
    case "token":
      TokenSchema.any("The device token, by the rules of its network. Percent-encode : and %")
    case "user":
      InstallationSchema.text(bytesMax: Limits.userBytesMax, "The user, percent-encoded")
    case "topic": InstallationSchema.word("_-", bytesMax: Limits.topicBytesMax, "The topic")
    default: nil
    }
  }
}
