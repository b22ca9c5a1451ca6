package import Model
package import Operations

/// Why a request was not done, as `application/problem+json` (RFC 9457) tells it.
package struct Problem: Error, Sendable {
  package let status: Int
  /// The kind of the problem, in a few words that are the same each time.
  package let title: String
  /// The fault of this request, and the way to mend it.
  package let detail: String
  /// The fields that broke a rule.
  package var errors: [InvalidField] = []
  /// After how many seconds to try again.
  package var retryAfterS: Int?
  package var headers: [(name: String, value: String)] = []
  /// The reason for the log, which no answer has.
  package var cause: String?
  /// Whether it may have been done all the same: the answer of Redis was lost.
  package var isUncertain = false
  /// Further members of the document.
  package var members: JSONObject = [:]

  package init(_ status: Int, _ title: String, _ detail: String) {
    self.status = status
    self.title = title
    self.detail = detail
  }

  package static func badRequest(_ detail: String) -> Problem {
    Problem(400, "bad request", detail)
  }

  package static func notFound(_ detail: String) -> Problem { Problem(404, "not found", detail) }

  package static func conflict(_ detail: String) -> Problem { Problem(409, "conflict", detail) }

  package static func unavailable(_ detail: String, retryAfterS: Int = 2) -> Problem {
    var problem = Problem(503, "unavailable", detail)
    problem.retryAfterS = retryAfterS
    return problem
  }

  /// A field that breaks a rule.
  package static func invalid(_ field: InvalidField) -> Problem {
    var problem = Problem(422, "a field breaks a rule", field.description)
    problem.errors = [field]
    return problem
  }

  package init(_ failure: StoreFailure) {
    self =
      switch failure.kind {
      case .invalid: Problem(422, "refused", failure.description)
      case .notFound: .notFound(failure.description)
      case .unavailable, .interrupted: .unavailable("the store is away, try again")
      case .wrongType:
        Problem(
          500, "internal error",
          "a key of Redis holds something that pushpool has not written; the server's log names it and the mend"
        )
      case .misconfigured, .internalError:
        Problem(500, "internal error", "the server could not do it; its log says why")
      }
    cause = failure.description
    isUncertain = failure.mayHaveHappened
  }

  package var response: APIResponse {
    var object: JSONObject = [
      "type": .string("about:blank"), "title": .string(title), "status": .integer(status),
      "detail": .string(detail),
    ]
    if !errors.isEmpty {
      object["errors"] = .array(
        errors.map { ["pointer": .string($0.pointer), "detail": .string($0.message)] })
    }
    for member in members.members { object[member.name] = member.value }
    var response = APIResponse(
      status,
      .bytes(JSONValue.object(object).bytes(), type: "application/problem+json"),
      headers: headers)
    if let retryAfterS { response = response.with("retry-after", String(retryAfterS)) }
    return response
  }
}
