package import Model

/// What a command is about, for the keys that it needs.
package enum KeySubject: Sendable, Equatable {
  /// What a user of an app has.
  case user(app: String, user: String)
  /// A device's token, and whoever has it.
  case token(app: String, DeviceToken)
  case job(app: String, id: String)
  /// Who belongs to the topics and channels of an app.
  case audiences(app: String)
}
