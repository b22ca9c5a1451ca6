internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

/// The routes by which admins add, set, show and remove apps that stand in Redis.
package enum AppRoutes {
  package static let all = [list, show, put, remove]

  private static let group = "apps"
  private static let admins = APIRoute.Access.roles([.admin])
  private static let cursor = ListCursor.List(name: "apps1", valuesMax: 1)

  // MARK: Looking

  private static let list = APIRoute(
    .get, "/v1/apps", admins, isSearch: true,
    RouteDocument(
      group, "List the apps that stand in Redis",
      "By name, without their secrets. Apps of the workers' configuration files are not among them.",
      query: ListPage.fields,
      answers: [
        .init(
          200, "The apps",
          .json(
            Schema.object(
              [("apps", Schema.array(of: AppSchema.shown)), ListPage.next],
              required: ["apps", "next"], closed: true)))
      ])
  ) { request, services throws(Problem) in
    let page = try ListPage(request, of: cursor)
    let last = page.cursor?.values.first?.stringValue
    guard page.cursor == nil || last != nil else { throw ListCursor.unreadable }
    let limit = page.limit
    let (apps, hasMore) = try await services.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).page(after: last, max: limit)
    }
    let next = hasMore ? apps.last.map { ListCursor(cursor, [.string($0.id)]) } : nil
    return page.response(
      ["apps": .array(apps.map { .object($0.json()) })], next: next,
      path: ResourcePath("v1", "apps"))
  }

  private static let show = APIRoute(
    .get, "/v1/apps/{app}", admins,
    RouteDocument(
      group, "Show an app that stands in Redis",
      "A secret is shown by the first 16 digits of its SHA-256 and by when it was set; a password by its date alone. The "
        + "answer may be given to PUT as it is: what is shown so stays. ETag is its revision, for If-Match.",
      answers: [.init(200, "The app", .json(AppSchema.shown))],
      problems: [(404, "There is no such app in Redis")])
  ) { request, services throws(Problem) in
    let id = try AppPath(request).app
    let found = try await services.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).find(id)
    }
    guard let found else { throw unknown(id) }
    let answer = APIResponse.ok(.object(found.json()))
    guard case .success(let record) = found.record else { return answer }
    return answer.with("etag", EntityTag(record).field)
  }

  // MARK: Changing

  private static let put = APIRoute(
    .put, "/v1/apps/{app}", admins, bodyBytesMax: ConfigurationLimits.appDocumentBytesMax,
    RouteDocument(
      group, "Add an app, or replace it",
      "The body is the whole app: what it leaves out is gone. Workers take it within 5 seconds. Its secrets are sealed with a "
        + "key that Redis does not have, and no answer has them. With a revision it replaces that one only.",
      headers: [
        (
          "If-Match",
          "The ETag of a GET, or * for any: the app is replaced only if it still is that, else the answer is 412"
        ),
        (
          "If-None-Match",
          "* alone: the app is added only if there is none of its name, else the answer is 412"
        ),
      ],
      request: .json(AppSchema.given),
      answers: [
        .init(200, "The app was replaced, or is as it was", .json(AppSchema.shown)),
        .init(201, "The app was added", .json(AppSchema.shown)),
      ],
      problems: [
        (
          409,
          "A configuration file has an app of this name, somebody has changed the app, there are too many, or the server has "
            + "no key to seal with"
        ),
        (400, "The body is no JSON, If-Match is no list of tags, or If-None-Match is not *"),
        (412, "The app is not what If-Match or If-None-Match wants; nothing was changed"),
        (422, "A field breaks a rule, or a secret cannot be used"),
      ])
  ) { request, services async throws(Problem) in
    let id = try AppPath(request).app
    let document = try document(request, id: id)
    guard let keys = services.appKeys else {
      throw .conflict(
        "this server has no key to seal secrets with: name \(AppsInRedisConfiguration.keyFilesField) in its configuration, "
          + "and restart it")
    }
    guard services.configuration.app(id) == nil else { throw inFile(id) }
    let condition = try MatchCondition(of: request)
    let mode = try mode(request, condition)
    let answer = try await services.put(
      AppPut(
        document, id: id, mode, oneOf: condition?.tags, keys: keys, by: request.caller.name,
        nowMs: InstantText.nowMs()))
    let (record, verb) = try result(answer, id, isConditional: mode != .put)
    if let verb {
      await services.noteAct(
        verb, app: id, subject: id, detail: record.networks.joined(separator: " "),
        by: request.caller)
    }
    let json = JSONValue.object(record.json())
    let tag = EntityTag(record).field
    guard case .added = answer else { return .ok(json).with("etag", tag) }
    return APIResponse(
      201, .json(json), headers: [(name: "location", value: ResourcePath("v1", "apps", id).text)]
    ).with("etag", tag)
  }

  /// Whether the app must be there, as the header fields say it.
  private static func mode(
    _ request: APIRequest, _ condition: MatchCondition?
  ) throws(Problem) -> AppRecordStore.Mode {
    guard let field = request.headers["if-none-match"] else {
      return condition == nil ? .put : .set
    }
    guard EntityTagList(field) == .any else {
      throw .badRequest("If-None-Match must be *, for an app that is not there yet")
    }
    guard condition == nil else {
      throw .badRequest("If-Match and If-None-Match cannot both hold: leave one of them out")
    }
    return .add
  }

  private static func document(
    _ request: APIRequest, id: String
  ) throws(Problem) -> AppDocument {
    let json = try request.json()
    do throws(InvalidField) { return try AppDocument(json, id: id) } catch {
      throw .invalid(error)
    }
  }

  /// The record, and the verb of the act; nil where nothing was done.
  /// - Parameter isConditional: whether header fields say what the app has to be.
  private static func result(
    _ answer: AppOffice.Answer, _ id: String, isConditional: Bool
  ) throws(Problem) -> (AppRecord, verb: String?) {
    switch answer {
    case .added(let record): return (record, "app.add")
    case .replaced(let record): return (record, "app.set")
    case .unchanged(let record): return (record, nil)
    case .refused(let field): throw .invalid(field)
    case .inFile: throw inFile(id)
    case .changed(let change):
      let sentence = change.sentence(
        about: id, look: "GET it", condition: isConditional ? "If-Match" : "revision")
      throw isConditional ? Problem(412, "precondition failed", sentence) : .conflict(sentence)
    case .exists, .missing: throw isOther
    case .full:
      throw .conflict(
        "there are \(ConfigurationLimits.redisAppsMax) apps in Redis already: remove those that nobody uses"
      )
    }
  }

  private static let isOther = Problem(
    412, "precondition failed",
    "the app is not what If-Match or If-None-Match wants: GET it, and make the change anew")

  private static func inFile(_ id: String) -> Problem {
    .conflict(
      "\(id) is an app of a configuration file, whose app counts: choose another name, or take that one out of the file"
    )
  }

  private static let remove = APIRoute(
    .delete, "/v1/apps/{app}", admins,
    RouteDocument(
      group, "Remove an app from Redis",
      "Workers let go of it within 5 seconds: what is in flight is answered, and what is left of its jobs waits. Its devices "
        + "stay.",
      headers: [
        (
          "If-Match",
          "The ETag of a GET: the app is removed only if it still is that, else the answer is 412"
        )
      ],
      answers: [.init(204, "The app is removed")],
      problems: [
        (400, "If-Match is no list of tags"), (404, "There is no such app in Redis"),
        (412, "The app is not any more what If-Match names; nothing was changed"),
      ])
  ) { request, services throws(Problem) in
    let id = try AppPath(request).app
    let revisions = try MatchCondition(of: request)?.tags
    let answer = try await services.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).remove(id, oneOf: revisions)
    }
    switch answer {
    case .removed: break
    case .missing: throw unknown(id)
    case .changed: throw isOther
    }
    await services.noteAct("app.remove", app: id, subject: id, by: request.caller)
    return .noContent
  }

  private static func unknown(_ id: String) -> Problem {
    .notFound("there is no app \(id) in Redis; those of configuration files stand there alone")
  }
}
