internal import Model
internal import Operations
internal import Redis
internal import Store

/// Who subscribes to topics, and how large topics and channels are.
enum TopicRoutes {
  static let all = [put, delete, topics, channels]

  // MARK: Subscriptions

  private static let pattern: PathPattern = "/v1/apps/{app}/topics/{topic}/users/{user}"

  private static let problems: [(status: Int, meaning: String)] = [
    (403, "A device named another user than its own"),
    PathValue.unknownApp,
    (422, "A part of the path breaks a rule"),
  ]

  private static let put = APIRoute(
    .put, pattern, .roles([.device, .server]),
    RouteDocument(
      "topics", "Subscribe a user to a topic",
      "The user need not have a device, and the topic need not exist. May be repeated.",
      answers: [.init(204, "The user subscribes to the topic")], problems: problems)
  ) { request, services throws(Problem) in
    let subscription = try subscription(request, services)
    _ = try await services.run(in: .app(subscription.app)) { store throws(RedisError) in
      try await store.audiences.subscribe([subscription])
    }
    return .noContent
  }

  private static let delete = APIRoute(
    .delete, pattern, .roles([.device, .server]),
    RouteDocument(
      "topics", "Unsubscribe a user from a topic", "May be repeated.",
      answers: [.init(204, "The user does not subscribe to the topic")], problems: problems)
  ) { request, services throws(Problem) in
    let subscription = try subscription(request, services)
    _ = try await services.run(in: .app(subscription.app)) { store throws(RedisError) in
      try await store.audiences.unsubscribe([subscription])
    }
    return .noContent
  }

  private static func subscription(
    _ request: APIRequest, _ services: Services
  ) throws(Problem) -> Subscription {
    let subscription = Subscription(
      app: try PathValue.app(request, services), topic: try PathValue.topic(request),
      user: try PathValue.user(request))
    try OwnUser.check(subscription.user, request.caller)
    return subscription
  }

  // MARK: Sizes

  private static let topics = list(
    .topic, "/v1/apps/{app}/topics", "List topics",
    "The topics that somebody subscribes to, and how many users do.")

  private static let channels = list(
    .channel, "/v1/apps/{app}/channels", "List channels",
    "The channels that a device is in, and how many users have one there.")

  private static func list(
    _ kind: AudienceLookup.Kind, _ pattern: PathPattern, _ summary: String, _ text: String
  ) -> APIRoute {
    APIRoute(
      .get, pattern, .roles([.server, .operatorLook]), isSearch: true,
      RouteDocument(
        "topics", summary, "\(text) In the byte order of their names.",
        query: [
          .init(
            "cursor", "The field next of the page before; without it the list begins",
            Schema.string()),
          .init(
            "limit", "How many at most. Default: \(ServerLimits.listUsual)",
            Schema.integer(in: 1...ServerLimits.listMax)),
        ],
        answers: [
          .init(200, "A page. Link has the next one (rel=next)", .json(schema))
        ],
        problems: [
          (400, "A field of the query breaks a rule"),
          PathValue.unknownApp,
          (422, "The app of the path breaks a rule"),
        ])
    ) { request, services throws(Problem) in
      let app = try PathValue.app(request, services)
      let place = try request.queryValue("cursor") ?? ""
      let limit = try request.queryInteger(
        "limit", in: 1...ServerLimits.listMax, default: ServerLimits.listUsual)
      let page = try await services.ask(in: .app(app)) { stores throws(RedisError) in
        try await AudienceLookup(stores: stores).page(
          of: kind, app: app, behind: place, max: limit)
      }
      let next = page.hasMore ? page.sizes.last?.name : nil
      let response = APIResponse.ok([
        "items": .array(
          page.sizes.map { ["name": .string($0.name), "users": .integer($0.users)] }),
        "next": next.map { .string($0) } ?? .null,
      ])
      guard let next else { return response }
      let query = "cursor=\(PercentText.encoded(next))&limit=\(limit)"
      return response.with("link", "</v1/apps/\(app)/\(kind.rawValue)s?\(query)>; rel=\"next\"")
    }
  }

  private static let schema = Schema.object(
    [
      (
        "items",
        Schema.array(
          of: Schema.object(
            [
              ("name", Schema.string("The name of the topic or the channel")),
              ("users", Schema.integer("How many users are in it")),
            ], required: ["name", "users"], closed: true))
      ),
      ("next", Schema.nullable(Schema.string("The cursor of the next page; null at the end"))),
    ], required: ["items", "next"], closed: true)
}
