/// The words and rules of a push network that hold whoever sends to it.
package struct NetworkTraits: Sendable {
  /// The network's name for people.
  package let displayName: String
  /// Whether each environment of an app has an account of its own, and a section in the configuration.
  package let hasAccountPerEnvironment: Bool
  package let token: TokenRule
  /// A token in the network's form that no device has.
  package let absentToken: String
  /// Whether it checks a request without delivering it.
  package let checksRequests: Bool
  /// The field of a job that is enough to be sent on it, as messages name it.
  package let sendableField: String
}

extension Network {
  /// The networks' names for people: "APNs, FCM and JPush".
  package static var displayNames: String {
    allCases.map(\.traits.displayName).list(before: "and")
  }

  /// The names for people of those that check requests without delivering them.
  package static var namesOfCheckers: String {
    allCases.map(\.traits).filter(\.checksRequests).map(\.displayName).list(before: "and")
  }

  /// Their names in documents: "apns, fcm or jpush".
  package static var alternatives: String { allCases.map(\.rawValue).list(before: "or") }
}
