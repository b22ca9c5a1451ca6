internal import Model

/// The problems that routes answer, as the document tells of them (RFC 9457).
enum APIProblems {
  static let schema = Schema.object(
    [
      ("type", Schema.string(format: "uri-reference")),
      ("title", Schema.string("The kind of the problem, the same each time")),
      ("status", Schema.integer(in: 400...599)),
      ("detail", Schema.string("What was wrong with this request, and what to do")),
      (
        "errors",
        Schema.array(
          of: Schema.object(
            [
              ("pointer", Schema.string("The field, a JSON pointer (RFC 6901)")),
              ("detail", Schema.string("The rule, and what to do")),
            ], required: ["pointer", "detail"]), "The fields that break a rule")
      ),
    ], required: ["type", "title", "status", "detail"])

  static let commonHeaders: JSONObject = [
    "Request-Id": ["$ref": .string("#/components/headers/Request-Id")]
  ]

  static let headers: JSONObject = [
    "Request-Id": [
      "description": .string("A name of the request, to look for in the server's log"),
      "schema": Schema.string(),
    ],
    "Retry-After": [
      "description": .string("After how many seconds to try again"),
      "schema": Schema.integer(in: 0...86_400),
    ],
  ]

  /// The meanings of the statuses that any route may answer.
  private static let meanings: [(status: Int, meaning: String)] = [
    (400, "The request cannot be read, or a field of its query breaks a rule."),
    (401, "There is no key, no user token and no session, or it is none that is known."),
    (403, "The role of the caller may not do this."),
    (404, "There is no such thing, or it is another app's."),
    (408, "The request took too long to come."),
    (413, "The body is too large."), (414, "The path is too long."),
    (422, "A part of the path breaks a rule."),
    (429, "Too many requests: wait as long as Retry-After says."),
    (431, "The header fields are too large, or too many."),
    (500, "The server could not do it; its log says why."),
    (503, "Redis is away, or the server is busy: try again."),
  ]

  /// The statuses of the problems that a route may answer beside its own.
  static func statuses(of route: APIRoute) -> [Int] {
    var statuses: Set = [400, 408, 413, 414, 429, 431, 500, 503]
    if route.access != .open { statuses.formUnion([401, 403, 404]) }
    if !route.pattern.parameters.isEmpty { statuses.formUnion([404, 422]) }
    return statuses.sorted()
  }

  /// One for each status, which routes refer to.
  static var responses: JSONObject {
    var responses = JSONObject()
    for (status, meaning) in meanings { responses[name(status)] = response(status, meaning) }
    return responses
  }

  private static func name(_ status: Int) -> String { "Problem\(status)" }

  static func reference(to status: Int) -> JSONValue {
    ["$ref": .string("#/components/responses/\(name(status))")]
  }

  static func response(_ status: Int, _ meaning: String) -> JSONValue {
    var headers = commonHeaders
    if status == 429 || status == 503 {
      headers["Retry-After"] = ["$ref": .string("#/components/headers/Retry-After")]
    }
    return [
      "description": .string(meaning), "headers": .object(headers),
      "content": [
        "application/problem+json": [
          "schema": ["$ref": .string("#/components/schemas/Problem")]
        ]
      ],
    ]
  }
}
