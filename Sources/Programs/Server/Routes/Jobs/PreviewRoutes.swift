internal import Model
internal import Operations
internal import PushpoolConfiguration

/// The route that shows what a job would send.
package enum PreviewRoutes {
  package static let all = [preview]

  private static let preview = APIRoute(
    .post, "/v1/apps/{app}/jobs:preview", .roles([.server]),
    bodyBytesMax: ServerLimits.jobBytesMax, isSearch: true,
    RouteDocument(
      JobRoutes.group, "Preview a job",
      "The request that each device would get, rendered as workers render it, or why it gets none. Nothing is queued, signed or "
        + "sent. Say for whom by one of user, tokens and devices; without one of them it is for any device of each "
        + "network of the app.",
      request: .json(requestSchema),
      answers: [RouteDocument.Answer(200, "The preview.", .json(answerSchema))],
      problems: [
        (404, "Neither the server's configuration nor Redis has such an app."),
        (status: 422, meaning: "The body or the job breaks a rule."),
      ])
  ) { request, services throws(Problem) in
    let app = try AppPath(request).app
    let source = try await PreviewSource.of(app, services)
    return try await PreviewRequest(
      request, source, prefix: services.configuration.redis(of: app).prefix
    ).response(services)
  }

  private static let network = Schema.choice(Network.allCases.map(\.rawValue))
  private static let environment = Schema.choice(PushEnvironment.allCases.map(\.rawValue))

  private static let requestSchema = Schema.object(
    [
      ("job", JobSchema.job),
      ("user", Schema.string("All installations of this user", bytesMax: Limits.userBytesMax)),
      (
        "tokens",
        .object([
          "type": .string("array"), "items": Schema.string(), "minItems": .integer(1),
          "maxItems": .integer(ServerLimits.previewedTokensMax),
          "description": .string("The installations of these device tokens"),
        ])
      ),
      (
        "devices",
        .object([
          "type": .string("array"),
          "items": Schema.object(
            [("network", network), ("environment", environment)], required: ["network"],
            closed: true),
          "minItems": .integer(1),
          "maxItems": .integer(Network.allCases.count * PushEnvironment.allCases.count),
          "description": .string("Any device of these networks"),
        ])
      ),
    ], required: ["job"], closed: true)

  private static let answerSchema: JSONValue = {
    let request = Schema.object(
      [
        ("method", Schema.string()), ("url", Schema.string()), ("headers", Schema.object([])),
        ("body", ["description": .string("JSON; text where it is none")]),
        (
          "sizes",
          Schema.array(
            of: Schema.object(
              [
                ("part", Schema.string()), ("bytes", Schema.integer()),
                ("bytes_max", Schema.integer()),
              ], required: ["part", "bytes", "bytes_max"]))
        ),
        ("devices_max", Schema.integer("Devices that one such request may be for")),
      ], required: ["method", "url", "headers", "body", "sizes", "devices_max"])
    let device = Schema.object(
      [
        ("network", network), ("environment", environment),
        ("token", Schema.string("A part of it")),
        (
          "in_audience",
          Schema.nullable(
            Schema.boolean("Whether it is in the job's audience; null where only Redis knows"))
        ),
        ("request", request), ("cause", Schema.string("Why nothing is sent, for programs")),
        ("text", Schema.string("Why nothing is sent, for people")),
      ], required: ["network", "environment", "token", "in_audience"])
    return Schema.object(
      [
        ("app", Schema.string()), ("id", Schema.string()),
        (
          "refused",
          Schema.nullable(
            Schema.object(
              [("field", Schema.string()), ("message", Schema.string())],
              required: ["field", "message"],
              description: "Why workers with this configuration would refuse the job"))
        ),
        ("devices", Schema.array(of: device)),
        ("absent", Schema.integer("Tokens that have no installation")),
      ], required: ["app", "refused", "devices", "absent"])
  }()
}
