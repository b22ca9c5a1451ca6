/// The roles that keys of the HTTP API have. A phone has none: it shows a token that its app's backend has signed.
package enum KeyRole: String, Sendable, CaseIterable {
  /// A backend: all of one app.
  case server
  /// Looks at everything, of all apps.
  case operatorLook = "operator-look"
  /// Looks, and acts.
  case operatorAct = "operator-act"
  /// Makes and revokes keys, and all that operators may.
  case admin

  /// Whether a key of this role is for one app. The others are for all apps.
  package var isOfOneApp: Bool { self == .server }
}
