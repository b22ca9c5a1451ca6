internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// Tells what is known of a device token, as `pushpool devices --token` does.
enum TokenRoute {
  static let get = APIRoute(
    .get, "/v1/apps/{app}/tokens/{token}", .roles([.server, .operatorLook]),
    RouteDocument(
      "installations", "Look a token up",
      """
      Tells who has the token and since when, and what became of it last: who uninstalled it, who installed it in place of its \
      former user, or that its network called it dead. Departures are kept for three and a half to seven days.
      """,
      query: [
        .init(
          "network", "The token's network; without it each that could have the token is asked",
          Schema.choice(Network.allCases.map(\.rawValue)))
      ],
      answers: [
        .init(
          200, "An item for each network that has the token, or has known it of late",
          .json(schema))
      ],
      problems: [
        (400, "The network of the query is none"),
        PathValue.unknownApp,
        (422, "A part of the path breaks a rule"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let tokens = try tokens(request)
    let standings = try await services.ask(
      in: .app(app), about: tokens.map { .token(app: app, $0) }
    ) {
      stores throws(RedisError) in
      try await InstallationLookup(stores: stores).standings(
        app: app, tokens: tokens, nowMs: InstantText.nowMs())
    }
    return .ok(["items": .array(standings.map { $0.json(app: app) })])
  }

  private static func tokens(_ request: APIRequest) throws(Problem) -> [DeviceToken] {
    let text = request.parameter("token")
    let network = try network(request)
    do throws(InvalidField) {
      guard let network else { return try DeviceToken.candidates(text) }
      return [try DeviceToken(text, network: network)]
    } catch { throw PathValue.refused("token", error) }
  }

  private static func network(_ request: APIRequest) throws(Problem) -> Network? {
    guard let name = try request.queryValue("network") else { return nil }
    guard let network = Network(rawValue: name) else {
      throw .badRequest(
        "network of the query must be one of "
          + Network.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return network
  }

  private static let schema = Schema.object(
    [
      (
        "items",
        Schema.array(
          of: Schema.object(
            [
              ("app", Schema.string()),
              ("network", Schema.choice(Network.allCases.map(\.rawValue))),
              ("token", Schema.string("The token as it is kept")),
              ("user", Schema.string("Who has it; missing when nobody")),
              ("since", Schema.instant("Since when")),
              ("installation", InstallationSchema.answer),
              ("departure", InstallationSchema.departure),
            ], required: ["app", "network", "token"], closed: true))
      )
    ], required: ["items"], closed: true)
}
