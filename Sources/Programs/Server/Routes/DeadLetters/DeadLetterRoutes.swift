internal import Model
internal import Operations
internal import Redis
internal import Store

/// The routes of dead letters, of one app and of all apps. Only operators look at them: they hold what was to be sent, and to
/// whom.
package enum DeadLetterRoutes {
  package static let all = routes(.app) + routes(.fleet)

  static let group = "dead letters"
  private static let lookers = APIRoute.Access.roles([.operatorLook])
  static let actors = APIRoute.Access.roles([.operatorAct])

  private static func routes(_ scope: LetterScope) -> [APIRoute] {
    [list(scope), summary(scope), show(scope), retry(scope), drop(scope)]
      + LetterChange.routes(scope)
  }

  // MARK: Looking

  private static let cursors = ListCursor.List(name: "letters1", valuesMax: 1)

  private static func list(_ scope: LetterScope) -> APIRoute {
    APIRoute(
      .get, scope.pattern(""), lookers, isSearch: true,
      RouteDocument(
        group, "List dead letters",
        "The oldest first, without what they are about. A page looks at \(ServerLimits.listedLettersMax) letters at most, "
          + "and so may have few or none of a filter's though more follow: go on while there is a next page.",
        query: LetterFilter.queryFields(scope) + ListPage.fields,
        answers: [
          RouteDocument.Answer(
            200, "A page of letters; the Link header leads to the next one.",
            .json(
              Schema.object(
                [("letters", Schema.array(of: LetterSchema.letter)), ListPage.next],
                required: ["letters", "next"], closed: true)))
        ])
    ) { request, services throws(Problem) in
      let filter = try LetterFilter(query: request, scope)
      let page = try ListPage(request, of: cursors)
      var after: ShardEntry?
      if let cursor = page.cursor {
        do throws(InvalidField) {
          after = try LetterEntry(
            cursor.values.first?.stringValue ?? "", of: services.session.shards
          ).name
        } catch { throw ListCursor.unreadable }
      }
      let start = after
      let app = try scope.app(request)
      let ((letters, position), absences) = try await services.look(of: app) {
        stores throws(RedisError) in
        try await read(filter, after: start, page.limit, in: stores)
      }
      return page.response(
        ["letters": .array(letters.map { $0.json() })],
        next: position.map { ListCursor(cursors, [.string($0.text)]) },
        path: scope.path(app),
        query: [
          (name: "app", value: try request.queryValue("app")),
          (name: "reason", value: filter.reason), (name: "kind", value: filter.kind),
        ]
      ).without(absences)
    }
  }

  /// A page of letters, and behind which letter the next one begins; nil at the end.
  private static func read(
    _ filter: LetterFilter, after: ShardEntry?, _ limit: Int, in stores: [ShardStore]
  ) async throws(RedisError) -> (letters: [DeadLetter], position: ShardEntry?) {
    var scan = try await LetterScan(
      filter, after: after, lookedMax: ServerLimits.listedLettersMax, in: stores)
    var letters: [DeadLetter] = []
    while scan.goesOn {
      letters += try await scan.next()
      guard letters.count <= limit else {
        return (Array(letters.prefix(limit)), letters[limit - 1].name)
      }
    }
    return (letters, scan.isAtEnd ? nil : scan.position)
  }

  private static func summary(_ scope: LetterScope) -> APIRoute {
    APIRoute(
      .get, scope.pattern(":summary"), lookers, isSearch: true,
      RouteDocument(
        group, "Count dead letters by reason",
        "The first \(ServerLimits.countedLettersMax) letters are looked at. The counts are those that a bulk retry or drop "
          + "with the same filter expects; up_to of the answer keeps letters out that come later.",
        query: LetterFilter.queryFields(scope),
        answers: [RouteDocument.Answer(200, "The counts.", .json(LetterSchema.summary))])
    ) { request, services throws(Problem) in
      let filter = try LetterFilter(query: request, scope)
      let (summary, absences) = try await services.look(of: try scope.app(request)) {
        stores throws(RedisError) in
        try await LetterSummary(of: filter, in: stores).json
      }
      return .ok(summary).without(absences)
    }
  }

  private static func show(_ scope: LetterScope) -> APIRoute {
    APIRoute(
      .get, scope.pattern("/{entry}"), lookers,
      RouteDocument(
        group, "Show a dead letter", "With the job, or the recipients, that it is about.",
        answers: [RouteDocument.Answer(200, "The letter.", .json(LetterSchema.letter))])
    ) { request, services throws(Problem) in
      let app = try scope.app(request)
      let entry = try LetterEntry(request, services)
      let letter = try await services.ask(in: .shard(entry.name.shard)) {
        stores throws(RedisError) -> DeadLetter? in
        guard try await entry.letter(app: app, in: stores) != nil else { return nil }
        return try await DeadLetterOffice(stores: stores).show(entry.name)
      }
      guard let letter else { throw entry.absence }
      return .ok(letter.json())
    }
  }

  // MARK: Dealing with one

  private static func retry(_ scope: LetterScope) -> APIRoute {
    APIRoute(
      .post, scope.pattern("/{entry}:retry"), actors,
      RouteDocument(
        group, "Retry a dead letter",
        "Queues a refused job again as new, or the open recipients of a job that was taken in. The letter is gone then.",
        answers: [
          RouteDocument.Answer(
            200, "It is queued again.",
            .json(
              Schema.object(
                [
                  (
                    "entry",
                    Schema.nullable(
                      Schema.string(
                        "The entry of the job that is queued; null for recipients of a job"))
                  )
                ], required: ["entry"], closed: true)))
        ],
        problems: [
          (
            status: 409,
            meaning:
              "It cannot be retried: what it is about is not kept any more, or its job still ends."
          )
        ])
    ) { request, services throws(Problem) in
      let app = try scope.app(request)
      let entry = try LetterEntry(request, services)
      let (letter, answer) = try await services.ask(in: .shard(entry.name.shard)) {
        stores throws(RedisError) in
        guard let letter = try await entry.letter(app: app, in: stores) else {
          return (nil as DeadLetter?, DeadRetryAnswer.absent)
        }
        return (letter, try await DeadLetterOffice(stores: stores).retry(entry.name))
      }
      switch answer {
      case .retried(let queued):
        await services.noteAct(
          "dead.retry", app: letter?.app ?? "", subject: entry.text, detail: letter?.id ?? "",
          by: request.caller)
        return .ok(["entry": queued.map { .string($0.text) } ?? .null])
      case .absent: throw entry.absence
      case .gone: throw .conflict("dead letter \(entry.text) \(LetterChange.goneText)")
      case .ending: throw .conflict("dead letter \(entry.text) \(LetterChange.endingText)")
      }
    }
  }

  private static func drop(_ scope: LetterScope) -> APIRoute {
    APIRoute(
      .delete, scope.pattern("/{entry}"), actors,
      RouteDocument(
        group, "Drop a dead letter", "Removes it for good.",
        answers: [RouteDocument.Answer(204, "It is gone.")])
    ) { request, services throws(Problem) in
      let app = try scope.app(request)
      let entry = try LetterEntry(request, services)
      let letter = try await services.ask(in: .shard(entry.name.shard)) {
        stores throws(RedisError) -> DeadLetter? in
        guard let letter = try await entry.letter(app: app, in: stores),
          try await DeadLetterOffice(stores: stores).drop(entry.name)
        else { return nil }
        return letter
      }
      guard let letter else { throw entry.absence }
      await services.noteAct(
        "dead.drop", app: letter.app, subject: entry.text, detail: letter.id, by: request.caller)
      return .noContent
    }
  }
}
