package import Model

/// The subject of a command, for the keys that it needs.
package enum KeySubject: Sendable, Equatable {
  /// The records of one user of an app.
  case user(app: String, user: String)
  /// A device's token, and whoever has it.
  case token(app: String, DeviceToken)
  case job(app: String, id: String)
  /// Who belongs to the topics and channels of an app.
  case audiences(app: String)
}
