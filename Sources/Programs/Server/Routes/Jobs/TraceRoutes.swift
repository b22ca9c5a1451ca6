internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// The route that tells what happened to a job's pushes.
package enum TraceRoutes {
  package static let all = [trace]

  private static let trace = APIRoute(
    .get, "/v1/apps/{app}/jobs/{id}/trace", JobRoutes.lookers, isSearch: true,
    RouteDocument(
      JobRoutes.group, "Trace a job's pushes",
      "What is recorded of the pushes to one user or one device token, and what follows from it; without either, counts of "
        + "everything and the last events. A plain accept at the first attempt is recorded only with \"trace\": true in "
        + "the job. A trace keeps the last 8 MiB of a job's events, until 48 hours after the last event.",
      query: [
        RouteDocument.QueryField(
          "user", "Only this user's pushes.", Schema.string(bytesMax: Limits.userBytesMax)),
        RouteDocument.QueryField(
          "token", "Only the pushes to this device token; not beside user.",
          Schema.string(bytesMax: DeviceToken.bytesOfAny.upperBound)),
        RouteDocument.QueryField(
          "limit",
          "How many of the last events are told; \(ServerLimits.traceEventsUsual) when it is left out.",
          Schema.integer(in: 1...ServerLimits.listMax)),
      ],
      answers: [RouteDocument.Answer(200, "The trace.", .json(schema))],
      problems: [
        (status: 409, meaning: "The job waits for a worker, who will refuse it."),
        (status: 410, meaning: "The job has ended, and its record is not kept any more."),
      ])
  ) { request, services throws(Problem) in
    let path = try JobPath(request)
    let subject = try subject(request)
    let limit = try request.queryInteger(
      "limit", in: 1...ServerLimits.listMax, default: ServerLimits.traceEventsUsual)
    let traced = try await services.ask(
      in: .app(path.app), about: [.job(app: path.app, id: path.id)]
    ) {
      stores throws(RedisError) in
      try await TracedJob.find(
        subject, app: path.app, job: path.id, nowMs: InstantText.nowMs(), in: stores)
    }
    if let traced { return .ok(traced.json(limit: limit)) }
    // Without a record it waits, or there is none.
    let record = try path.record(try await path.perform(.show, services))
    return .ok(untraced(record, isOfEverybody: subject.isEverybody))
  }

  private static func subject(_ request: APIRequest) throws(Problem) -> TraceSubject {
    let user = try request.queryValue("user")
    let token = try request.queryValue("token")
    do throws(InvalidField) {
      switch (user, token) {
      case (nil, nil): return .everybody
      case (let user?, nil): return try TraceSubject(user: user)
      case (nil, let token?): return try TraceSubject(token: token)
      case (.some, .some): break
      }
    } catch {
      throw .badRequest("\(user == nil ? "token" : "user") of the query \(error.message)")
    }
    throw .badRequest("user and token of the query exclude each other: give one of them")
  }

  /// The trace of a job that no worker has taken in.
  private static func untraced(_ record: JobRecord, isOfEverybody: Bool) -> JSONValue {
    var object: JSONObject = [
      "job": record.json(), "trace": .bool(false), "complete": .bool(true),
      "trimmed": .integer(0), "lost": .integer(0), "omitted": .integer(0),
      "unexplained": .integer(0), "matched": .integer(0), "events": .array([]),
    ]
    object[isOfEverybody ? "counts" : "conclusions"] = .array([])
    return .object(object)
  }

  private static let schema: JSONValue = {
    let count = Schema.integer()
    let event = Schema.object(
      [
        ("at", Schema.instant("When")), ("lane", Schema.string()),
        ("network", Schema.string()), ("environment", Schema.string()),
        ("token", Schema.string()), ("user", Schema.string()), ("attempt", count),
        ("what", Schema.string()), ("status", count), ("reason", Schema.string()),
        ("elapsed_ms", count), ("decision", Schema.string()), ("cause", Schema.string()),
        ("delay_ms", count),
      ], required: ["at", "lane", "what"])
    let conclusion = Schema.object(
      [
        ("network", Schema.string()), ("token", Schema.string()),
        ("code", Schema.string("For programs")), ("text", Schema.string("For people")),
      ], required: ["code", "text"])
    let tally = Schema.object(
      [
        ("network", Schema.string()), ("what", Schema.string()), ("status", count),
        ("reason", Schema.string()), ("decision", Schema.string()), ("cause", Schema.string()),
        ("count", count), ("first_at", Schema.instant("The first of them")),
        ("last_at", Schema.instant("The last of them")),
      ], required: ["what", "count", "first_at", "last_at"])
    return Schema.object(
      [
        ("job", JobSchema.record),
        ("trace", Schema.boolean("Whether the job asks for a record of everything")),
        ("complete", Schema.boolean("Whether all that was to be recorded is here")),
        ("trimmed", Schema.integer("Events that the trace's limit has cut off")),
        ("lost", Schema.integer("Events that could not be recorded")),
        ("omitted", Schema.integer("Events that were only counted")),
        ("unexplained", Schema.integer("Pushes that ended badly and that no event explains")),
        ("matched", Schema.integer("Events of the user or the token")),
        ("events", Schema.array(of: event)),
        ("conclusions", Schema.array(of: conclusion, "With user or token")),
        ("counts", Schema.array(of: tally, "Without user and token")),
      ],
      required: [
        "job", "trace", "complete", "trimmed", "lost", "omitted", "unexplained", "matched",
        "events",
      ])
  }()
}

extension TraceSubject {
  fileprivate var isEverybody: Bool { if case .everybody = self { true } else { false } }
}
