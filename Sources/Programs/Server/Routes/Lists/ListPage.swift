internal import Model

/// The part of a list that a request asks for.
struct ListPage: Sendable {
  let limit: Int
  /// Nil for the beginning.
  let cursor: ListCursor?

  /// - Throws: 400 for a limit or a cursor that cannot be.
  init(_ request: APIRequest, of list: ListCursor.List) throws(Problem) {
    limit = try request.queryInteger(
      "limit", in: 1...ServerLimits.listMax, default: ServerLimits.listUsual)
    if let text = try request.queryValue("cursor") {
      cursor = try ListCursor(list, text: text)
    } else {
      cursor = nil
    }
  }

  /// The answer with a page.
  /// - Parameters:
  ///   - members: what the document has; its `next` is added.
  ///   - next: where the list goes on; nil at its end.
  ///   - query: what else was asked for.
  func response(
    _ members: JSONObject, next: ListCursor?, path: ResourcePath,
    query: [(name: String, value: String?)] = []
  ) -> APIResponse {
    var members = members
    members["next"] = next.map { .string($0.text) } ?? .null
    let response = APIResponse.ok(.object(members))
    guard let next else { return response }
    let link = path.with(
      query + [(name: "limit", value: String(limit)), (name: "cursor", value: next.text)])
    return response.with("link", "<\(link)>; rel=\"next\"")
  }

  /// The fields of the query that every list takes.
  static let fields = [
    RouteDocument.QueryField(
      "cursor", "The next of the page before; left out for the first page.",
      Schema.string()),
    RouteDocument.QueryField(
      "limit", "The most that a page has; \(ServerLimits.listUsual) when it is left out.",
      Schema.integer(in: 1...ServerLimits.listMax)),
  ]

  /// The member of an answer that leads to the next page.
  static let next = (
    "next",
    Schema.nullable(
      Schema.string("The cursor of the next page, which the Link header also has; null at the end"))
  )
}
