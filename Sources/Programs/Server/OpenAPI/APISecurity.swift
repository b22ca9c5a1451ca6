internal import Model

/// Who may call a route, as the document tells it.
enum APISecurity {
  static let schemes: JSONObject = [
    "key": [
      "type": .string("http"), "scheme": .string("bearer"),
      "description": .string(
        "A key, pp_<role>_<id>_<secret>: of a backend or of an operator. See pushpool keys."),
    ],
    "userToken": [
      "type": .string("http"), "scheme": .string("bearer"), "bearerFormat": .string("JWT"),
      "description": .string(
        "A token that the app's backend signs for one user (sub) of the app (aud), for at most 24 hours: the role device."
      ),
    ],
    "session": [
      "type": .string("apiKey"), "in": .string("cookie"), "name": .string(Credential.cookieName),
      "description": .string(
        "The cookie that POST /v1/session gives a browser for an operator's key."),
    ],
  ]

  /// The roles that may call what these may.
  static func admitted(_ roles: Set<Role>) -> [Role] {
    Role.allCases.filter { $0.isAdmitted(to: roles) }
  }

  /// The credentials of which a caller shows one.
  static func requirements(of access: APIRoute.Access) -> [JSONValue] {
    guard case .roles(let roles) = access else { return [] }
    let admitted = Set(admitted(roles))
    var schemes: [String] = []
    if !admitted.isDisjoint(with: [.server, .operatorLook, .operatorAct, .admin]) {
      schemes.append("key")
    }
    if admitted.contains(.device) { schemes.append("userToken") }
    if !admitted.isDisjoint(with: [.operatorLook, .operatorAct, .admin]) {
      schemes.append("session")
    }
    return schemes.map { name in
      var requirement = JSONObject()
      requirement[name] = .array([])
      return .object(requirement)
    }
  }
}
