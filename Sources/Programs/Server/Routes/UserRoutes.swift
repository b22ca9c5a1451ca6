internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// All devices of a user: look at them, remove them.
enum UserRoutes {
  static let pattern: PathPattern = "/v1/apps/{app}/users/{user}/installations"

  static let all = [get, delete]

  private static let problems: [(status: Int, meaning: String)] = [
    (403, "A device asked for another user than its own"),
    PathValue.unknownApp,
    (422, "A part of the path breaks a rule"),
  ]

  static let get = APIRoute(
    .get, pattern, .roles([.device, .server, .operatorLook]),
    RouteDocument(
      "users", "List a user's devices",
      """
      All of them: a user has at most \(Limits.installationsPerUserMax). Servers and operators are also told which device the \
      user lost last, and why. Departures are kept for three and a half to seven days.
      """,
      answers: [.init(200, "The installations", .json(InstallationSchema.answers))],
      problems: problems)
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let user = try PathValue.user(request)
    try OwnUser.check(user, request.caller)
    // Another user's name may be in it.
    let isToldOfDepartures = request.caller.role != .device
    let (devices, departure) = try await services.ask(
      in: .app(app), about: [.user(app: app, user: user)]
    ) {
      stores throws(RedisError) in
      let lookup = InstallationLookup(stores: stores)
      return (
        try await lookup.devices(app: app, user: user),
        isToldOfDepartures
          ? try await lookup.departure(app: app, user: user, nowMs: InstantText.nowMs()) : nil
      )
    }
    var answer: JSONObject = ["items": .array(devices.map { $0.installation.json() })]
    answer["last_departure"] = departure.map { $0.jsonWithToken() }
    return .ok(.object(answer))
  }

  static let delete = APIRoute(
    .delete, pattern, .roles([.device, .server]),
    RouteDocument(
      "users", "Remove all of a user's devices",
      "As when an account is deleted. Subscriptions to topics stay. May be repeated.",
      answers: [.init(204, "The user has none of the devices any more")], problems: problems)
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let user = try PathValue.user(request)
    try OwnUser.check(user, request.caller)
    _ = try await services.ask(in: .app(app), about: [.user(app: app, user: user)]) {
      stores throws(RedisError) in
      try await InstallationOffice(stores: stores).uninstallAll(app: app, user: user)
    }
    return .noContent
  }
}
