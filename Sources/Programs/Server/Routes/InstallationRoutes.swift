internal import Model
internal import Operations
internal import Redis
internal import Store

/// One device token of an app: install it, look at it, remove it. Its changes in part, batches and look-ups stand in files of
/// their own.
enum InstallationRoutes {
  static let pattern: PathPattern = "/v1/apps/{app}/installations/{network}/{token}"

  static let all = [
    put, post, get, InstallationPatchRoute.patch, delete, InstallationBatchRoute.post,
    TokenRoute.get,
  ]

  // MARK: Install

  static let put = APIRoute(
    .put, pattern, .roles([.device, .server]), bodyBytesMax: Limits.installationBytesMax,
    RouteDocument(
      "installations", "Install a device",
      """
      Binds the token to the user. The last installer wins: whoever had the token before receives nothing on this device any \
      more. May be repeated, and apps do so at each start; it renews the installation. Fields that are left out stay as they \
      are, unless the token moves to another user. The body may leave out what the path says. A device may also leave out \
      its user, and install for no other.
      """,
      request: .json(InstallationSchema.put),
      answers: [
        .init(201, "The token was nobody's", .json(InstallationSchema.result([.created]))),
        .init(
          200, "The token was installed already: for the same user (updated) or another (moved)",
          .json(InstallationSchema.result([.updated, .moved]))),
      ],
      problems: InstallationAnswer.problems + [
        (400, "The body is no JSON"), (403, "A device named another user than its own"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let token = try PathValue.token(request)
    let installation = try InstallationDocument(
      app: app, token: token, own: OwnUser.only(request.caller)
    ).installation(body: request.body)
    let result = try await install(installation, services)
    let answer = InstallationAnswer.installed(result, by: request.caller)
    guard result.status == .created else { return .ok(answer) }
    return APIResponse(201, .json(answer)).with(
      "location", InstallationAnswer.location(app: app, token))
  }

  static let post = APIRoute(
    .post, "/v1/apps/{app}/installations", .roles([.server]),
    bodyBytesMax: Limits.installationBytesMax,
    RouteDocument(
      "installations", "Install a device whose token is new",
      """
      Installs the token unless somebody has it, as NCMB and Parse do. It is not to be repeated without thought: after a lost \
      answer the same request finds its own installation, and answers 409 with its object id.
      """,
      request: .json(InstallationSchema.post),
      answers: [
        .init(
          201, "The token was nobody's. Location is its path",
          .json(InstallationSchema.result([.created])))
      ],
      problems: InstallationAnswer.problems + [
        (400, "The body is no JSON"),
        (409, "The token is installed already; object_id of the answer names its installation"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let installation = try InstallationDocument(app: app).installation(body: request.body)
    let result = try await install(installation, strict: true, services)
    guard result.status != .conflict else {
      var problem = Problem.conflict(
        "the token is installed already: PUT it to install it for this user, or PATCH it")
      problem.members["object_id"] = .string(result.objectID)
      throw problem
    }
    return APIResponse(201, .json(InstallationAnswer.installed(result, by: request.caller))).with(
      "location", InstallationAnswer.location(app: app, installation.token))
  }

  /// One call of Redis, which leaves in the same turn of the session's loop as those of all other requests that came meanwhile.
  private static func install(
    _ installation: Installation, strict: Bool = false, _ services: Services
  ) async throws(Problem) -> InstallResult {
    try await services.run(
      in: .app(installation.app),
      about: [
        .token(app: installation.app, installation.token),
        .user(app: installation.app, user: installation.user),
      ]
    ) { store throws(RedisError) in
      try await InstallationOffice.install(installation, strict: strict, in: store)
    }
  }

  // MARK: Look and remove

  static let get = APIRoute(
    .get, pattern, .roles([.device, .server]),
    RouteDocument(
      "installations", "Get the installation of a token",
      "ETag is its version, for If-Match of a PATCH.",
      answers: [.init(200, "The installation", .json(InstallationSchema.answer))],
      problems: [
        (404, "The token is installed for nobody, or there is no such app"),
        (409, "A device asks for a token that another user has"),
        (422, "A part of the path breaks a rule"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let token = try PathValue.token(request)
    let own = try OwnUser.only(request.caller)
    guard let stored = try await read(app, token, services) else { throw InstallationAnswer.absent }
    if let own, !TextRule.isSame(stored.installation.user, own) {
      throw InstallationAnswer.otherOwner
    }
    return InstallationAnswer.document(stored)
  }

  /// The installation of a token; nil when it is nobody's.
  static func read(
    _ app: String, _ token: DeviceToken, _ services: Services
  ) async throws(Problem) -> StoredInstallation? {
    try await services.ask(in: .app(app), about: [.token(app: app, token)]) {
      stores throws(RedisError) in
      try await InstallationLookup(stores: stores).installation(app: app, token: token)
    }
  }

  static let delete = APIRoute(
    .delete, pattern, .roles([.device, .server]),
    RouteDocument(
      "installations", "Remove a device",
      """
      Unbinds the token, as at a logout. May be repeated. A device removes its own user's installation only. A server should \
      name the user too: else a late logout of one user removes the device of the next.
      """,
      query: [
        .init(
          "user", "Remove it only if it is this user's",
          InstallationSchema.text(bytesMax: Limits.userBytesMax, "The user"))
      ],
      answers: [.init(204, "The token is nobody's now, or was nobody's before")],
      problems: InstallationAnswer.problems + [
        (400, "The query has user twice"), (403, "A device named another user than its own"),
        (409, "Another user has the token; nothing was changed"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let token = try PathValue.token(request)
    let owner = try owner(request)
    let answer = try await services.ask(in: .app(app), about: [.token(app: app, token)]) {
      stores throws(RedisError) in
      try await InstallationOffice(stores: stores).uninstall(token, app: app, owner: owner)
    }
    if answer == .otherOwner { throw InstallationAnswer.otherOwner }
    return .noContent
  }

  /// The user whose installation alone is to be removed; nil for whosever it is.
  private static func owner(_ request: APIRequest) throws(Problem) -> String? {
    let own = try OwnUser.only(request.caller)
    guard let user = try request.queryValue("user") else { return own }
    do throws(InvalidField) { try TextRule.checkUser(user) } catch {
      throw .badRequest("user of the query \(error.message)")
    }
    try OwnUser.check(user, request.caller)
    return user
  }
}
