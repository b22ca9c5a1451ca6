internal import Model
internal import Operations
internal import Redis
internal import Store

/// The route that shows what operators did.
package enum ActRoutes {
  package static let all = [list]

  private static let cursors = ListCursor.List(name: "acts1", valuesMax: 1)

  private static let list = APIRoute(
    .get, "/v1/acts", FleetRoutes.lookers, isSearch: true,
    RouteDocument(
      FleetRoutes.group, "List what operators did",
      "The newest first: acts of the command line, of this API and of the page. The last 100,000 are kept. A page may have few "
        + "or none that match though older ones follow: go on while there is a next page.",
      query: [
        RouteDocument.QueryField(
          "app", "Only acts about this app.", Schema.string(bytesMax: Limits.appBytesMax)),
        RouteDocument.QueryField(
          "verb", "Only acts of this verb, such as job.cancel, or of a noun, such as job.",
          Schema.string(bytesMax: StoreLimits.actWordBytesMax)),
      ] + ListPage.fields,
      answers: [
        RouteDocument.Answer(
          200, "A page of acts; the Link header leads to the next one.",
          .json(
            Schema.object(
              [("acts", Schema.array(of: act)), ListPage.next], required: ["acts", "next"],
              closed: true)))
      ])
  ) { request, services async throws(Problem) in
    let app = try request.queryValue("app")
    if let app {
      do throws(InvalidField) { try TextRule.checkApp(app) } catch {
        throw .badRequest("app of the query \(error.message)")
      }
    }
    let verb = try request.queryValue("verb")
    let page = try ListPage(request, of: cursors)
    let before = page.cursor?.values.first?.stringValue
    guard page.cursor == nil || before.flatMap({ EntryID($0) }) != nil else {
      throw ListCursor.unreadable
    }
    let found = try await services.atHome { fleet throws(RedisError) in
      try await ActJournal(fleet: fleet).page(
        app: app, verb: verb, before: before, max: page.limit)
    }
    return page.response(
      ["acts": .array(found.entries.map { .object($0.json()) })],
      next: found.next.map { ListCursor(cursors, [.string($0)]) },
      path: ResourcePath("v1", "acts"),
      query: [(name: "app", value: app), (name: "verb", value: verb)])
  }

  private static let act = Schema.object(
    [
      ("entry", Schema.string("The place in the stream")), ("at", Schema.instant("When")),
      ("verb", Schema.string("Such as job.cancel, dead.retry, switch.off or key.create")),
      ("app", Schema.string("The app; empty for none, or for all")),
      ("subject", Schema.string("A job's id, a switch's field, a letter's entry, a key's id")),
      ("detail", Schema.string("Such as a reason, a pace or a role")),
      ("who", Schema.string("The id of a key, or a user and a machine")),
      ("who_name", Schema.string("The name that the key had; empty for none")),
      ("from", Schema.string("An address, or command line")),
    ],
    required: ["entry", "at", "verb", "app", "subject", "detail", "who", "who_name", "from"],
    closed: true)
}
