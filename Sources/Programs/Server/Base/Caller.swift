/// The rights of a caller.
package enum Role: String, Sendable, CaseIterable {
  /// A phone: its own user's installations and subscriptions, by a token that the app's backend has signed (JWT).
  case device
  /// A backend: all of one app.
  case server
  /// Looks at everything, of all apps.
  case operatorLook = "operator-look"
  /// Looks, and acts: pauses, cancels, switches off, retries.
  case operatorAct = "operator-act"
  /// Makes and revokes keys, and all that operators may.
  case admin

  /// The roles whose routes it may have: whoever acts looks as well, and an admin does both.
  var implied: Set<Role> {
    switch self {
    case .device, .server, .operatorLook: [self]
    case .operatorAct: [.operatorAct, .operatorLook]
    case .admin: [.admin, .operatorAct, .operatorLook]
    }
  }

  /// Whether it may have what is for these.
  func isAdmitted(to roles: Set<Role>) -> Bool { !implied.isDisjoint(with: roles) }
}

/// Who sent a request, once that is known.
package struct Caller: Sendable, Equatable {
  /// Nil for whoever gave no key, on a route that is open.
  package let role: Role?
  /// The one app that it is for; nil for all apps.
  package let app: String?
  /// The user whom a device's token names.
  package let user: String?
  /// Name in the audit stream: the id of its key, or the user of its token.
  package let name: String
  /// The remark of whoever made its key; empty for none.
  package let keyName: String
  /// The address that it came from, as text.
  package let address: String
  /// Whether it came by HTTPS, as far as that is known.
  package let isSecure: Bool
  /// The browser's session by which it came; nil for whoever showed a key or a token.
  package let session: SessionSecret?

  package init(
    role: Role?, app: String?, user: String? = nil, name: String, keyName: String = "",
    address: String, isSecure: Bool = false, session: SessionSecret? = nil
  ) {
    self.role = role
    self.app = app
    self.user = user
    self.name = name
    self.keyName = keyName
    self.address = address
    self.isSecure = isSecure
    self.session = session
  }
}

/// The secret of a browser's cookie. Nothing that prints a caller shows it.
package struct SessionSecret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package var description: String { "a session" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
