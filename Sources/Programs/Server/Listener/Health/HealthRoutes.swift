internal import Model

/// The routes for probes, and the API's own document.
enum HealthRoutes {
  /// The group of the probes. They are let in whatever their rate.
  static let group = "health"

  private static let state = Schema.object(
    [("status", Schema.string("ok"))], required: ["status"])

  static func all(_ readiness: Readiness) -> [APIRoute] { [healthz, readyz(readiness)] }

  private static let healthz = APIRoute(
    .get, "/healthz", .open,
    RouteDocument(
      group, "Whether the process answers", "For probes that restart it.",
      answers: [.init(200, "it does", .json(state))])
  ) { _, _ in .ok(["status": .string("ok")]) }

  private static func readyz(_ readiness: Readiness) -> APIRoute {
    APIRoute(
      .get, "/readyz", .open,
      RouteDocument(
        group, "Whether the server can work",
        "Whether Redis answers a command within \(ServerLimits.readySeconds) s. For probes that send it requests or not.",
        answers: [.init(200, "it can", .json(state))],
        problems: [(503, "Redis cannot be used; the log says why")])
    ) { (_, _) async throws(Problem) in
      if let reason = await readiness.reason() {
        // Anybody may ask. Where Redis is, and what it said, is for the log.
        var problem = Problem.unavailable("Redis cannot be used; the server's log says why")
        problem.cause = reason
        throw problem
      }
      return .ok(["status": .string("ok")])
    }
  }

  /// The document of the API, of these routes and of itself.
  static func document(of routes: [APIRoute]) -> APIRoute {
    let described = APIDocument(routes: routes + [document(bytes: [])])
    return document(bytes: described.json.bytes())
  }

  private static func document(bytes: [UInt8]) -> APIRoute {
    APIRoute(
      .get, "/openapi.json", .open,
      RouteDocument(
        "document", "This document", "The API in OpenAPI 3.1.",
        answers: [.init(200, "the document", .json(["type": .string("object")]))])
    ) { _, _ in APIResponse(200, .bytes(bytes, type: "application/json")) }
  }
}
