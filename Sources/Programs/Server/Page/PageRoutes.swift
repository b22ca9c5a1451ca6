internal import Model

/// The dashboard's page, its files, and the feed that it listens to.
package enum PageRoutes {
  /// Asks whether a caller may still look, while its stream is open.
  package typealias Right = @Sendable (Caller) async -> Bool

  /// - Parameter mayStillLook: asked each few seconds of an open stream, so that one whose key was revoked ends; nil where
  ///   only the end of a stream's life brings the question.
  package static func all(_ feed: FleetFeed, mayStillLook: Right? = nil) -> [APIRoute] {
    [page, asset, events(feed, mayStillLook), latest(feed), pace(feed)]
  }

  /// The policy by which the browser holds the page to its own files, whatever gets into it.
  static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
    "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  // MARK: Files

  private static let page = APIRoute(
    .get, "/", .open,
    RouteDocument(
      "dashboard", "The dashboard",
      "A page for people. It asks for a key, and uses the rest of this API.",
      headers: [("if-none-match", "answered with 304 when the page is the same")],
      answers: [
        .init(200, "the page", .init(type: "text/html", schema: Schema.string())),
        .init(304, "the page is the same as before"),
      ])
  ) { request, _ in answer(PageAssets.page, to: request) }

  private static let asset = APIRoute(
    .get, "/assets/{name}", .open,
    RouteDocument(
      "dashboard", "A file of the dashboard",
      headers: [("if-none-match", "answered with 304 when the file is the same")],
      answers: [
        .init(200, "the file", .init(type: "application/octet-stream", schema: Schema.string())),
        .init(304, "the file is the same as before"),
      ],
      problems: [(404, "there is no such file")])
  ) { (request, _) async throws(Problem) in
    guard let asset = PageAssets.named[request.parameter("name")] else {
      throw .notFound("the dashboard has no such file")
    }
    return answer(asset, to: request)
  }

  private static func answer(_ asset: PageAssets.Asset, to request: APIRequest) -> APIResponse {
    let isKnown = request.headers["if-none-match"].map { asset.isNamed(by: $0) } ?? false
    let response =
      isKnown ? APIResponse(304) : APIResponse(200, .bytes(asset.bytes, type: asset.type))
    // The browser keeps it, and asks each time whether it is the same.
    return response.with("etag", asset.entityTag)
      .with("cache-control", "no-cache")
      .with("content-security-policy", policy)
      .with("x-content-type-options", "nosniff")
      .with("referrer-policy", "no-referrer")
      .with("cross-origin-opener-policy", "same-origin")
      .with("cross-origin-resource-policy", "same-origin")
  }

  // MARK: The feed

  private static let after = RouteDocument.QueryField(
    "after", "The last event that was received: what has not changed since is left out.",
    Schema.string(bytesMax: 64))

  private static func events(_ feed: FleetFeed, _ mayStillLook: Right?) -> APIRoute {
    APIRoute(
      .get, "/v1/events", .roles([.operatorLook]),
      RouteDocument(
        "dashboard", "What changes in the fleet",
        """
        Server-sent events. An event holds a whole section, and comes when it has changed: store, fleet, alarms, jobs, \
        outcomes, networks, switches, rates, history. One process reads Redis once a second for all streams.
        """,
        query: [after],
        headers: [
          ("last-event-id", "the last event that was received: what has not changed is left out")
        ],
        answers: [
          .init(200, "the stream", .init(type: "text/event-stream", schema: Schema.string()))
        ],
        problems: [(503, "too many streams are open")])
    ) { (request, _) async throws(Problem) in
      guard await feed.hasRoom else {
        throw .unavailable("too many pages are open: try again later", retryAfterS: 10)
      }
      // A browser names the event only when it comes back by itself.
      let after = try request.queryValue("after")
      let lastID = request.headers["last-event-id"] ?? after
      let caller = request.caller
      let mayLook = mayStillLook.map { right in { @Sendable in await right(caller) } }
      return APIResponse(
        200,
        .stream(type: "text/event-stream") { writer in
          try await feed.serve(writer, lastEventID: lastID, while: mayLook)
        }
      )
      .with("cache-control", "no-store")
      // nginx would gather the events of a minute otherwise.
      .with("x-accel-buffering", "no")
    }
  }

  private static func latest(_ feed: FleetFeed) -> APIRoute {
    APIRoute(
      .get, "/v1/events/latest", .roles([.operatorLook]),
      RouteDocument(
        "dashboard", "What has changed in the fleet",
        "The sections of /v1/events at once, for whoever cannot keep a stream open.",
        query: [after],
        answers: [
          .init(
            200, "the sections",
            .json(
              Schema.object(
                [
                  ("id", Schema.string("to ask with the next time")),
                  (
                    "events",
                    Schema.array(
                      of: Schema.object(
                        [
                          ("event", Schema.choice(FeedSection.allCases.map(\.rawValue))),
                          ("data", Schema.object([])),
                        ], required: ["event", "data"]))
                  ),
                ], required: ["id", "events"])))
        ],
        problems: [(503, "too many pages are open")])
    ) { (request, _) async throws(Problem) in
      let after = try request.queryValue("after")
      return APIResponse.ok(try await feed.latest(after: after)).with("cache-control", "no-store")
    }
  }

  private static func pace(_ feed: FleetFeed) -> APIRoute {
    APIRoute(
      .get, "/v1/apps/{app}/jobs/{id}/pace", .roles([.operatorLook, .server]),
      RouteDocument(
        "jobs", "How a job went on",
        "The counts of a job while pages were open: this process saw them, and Redis does not keep them.",
        answers: [
          .init(
            200, "the points, in the order of time; none when nobody looked",
            .json(
              Schema.object(
                [
                  (
                    "points",
                    Schema.array(
                      of: Schema.object(
                        [
                          ("at", Schema.instant("when it was read")),
                          ("settled", Schema.integer("installations that had ended")),
                          ("accepted", Schema.integer("those of them that were accepted")),
                        ], required: ["at", "settled", "accepted"]))
                  )
                ], required: ["points"])))
        ])
    ) { (request, _) async throws(Problem) in
      let series = await feed.pace(app: request.parameter("app"), id: request.parameter("id"))
      return APIResponse.ok((series ?? PaceSeries()).json).with("cache-control", "no-store")
    }
  }
}

extension PageAssets.Asset {
  /// Whether If-None-Match names it (RFC 9110, 13.1.2); a weak tag counts as well.
  fileprivate func isNamed(by field: String) -> Bool {
    switch EntityTagList(field) {
    case .any?: true
    case .tags(let tags)?: tags.contains { "\"\($0.text)\"" == entityTag }
    case nil: false
    }
  }
}
