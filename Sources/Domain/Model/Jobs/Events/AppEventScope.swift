/// Whose bucket an event is about: the app's own, or that of somebody within the app.
package enum AppEventScope: Sendable, Equatable {
  case app
  case user(String)
  case group(String)
  case thing(String)

  /// The kind of scope, as producers and receivers call it.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case app = "APP"
    case user = "APP_AND_USER"
    case group = "APP_AND_GROUP"
    case thing = "APP_AND_THING"

    /// The field that says who within the app; nil for the app's own.
    var owner: AppEventField? {
      switch self {
      case .app: nil
      case .user: .scopeUser
      case .group: .scopeGroup
      case .thing: .scopeThing
      }
    }
  }

  package var kind: Kind {
    switch self {
    case .app: .app
    case .user: .user
    case .group: .group
    case .thing: .thing
    }
  }

  /// Nil for the app's own.
  package var owner: String? {
    switch self {
    case .app: nil
    case .user(let owner), .group(let owner), .thing(let owner): owner
    }
  }
}
