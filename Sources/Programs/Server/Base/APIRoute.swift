package import Model
internal import Typesetting

/// One operation of the API: who may call it, what it takes and answers, and what it does. The documents and the
/// dispatch are made of the same value, so that neither can say what the other does not do.
package struct APIRoute: Sendable {
  package typealias Handler = @Sendable (APIRequest, Services) async throws(Problem) -> APIResponse

  package let method: APIRequest.Method
  package let pattern: PathPattern
  package let access: Access
  /// The longest body that is read; 0 where none is taken.
  package let bodyBytesMax: Int
  /// Whether it may read much of Redis, as lists and searches do. A caller has few of these in hand at a time.
  package let isSearch: Bool
  package let document: RouteDocument
  package let handle: Handler

  package init(
    _ method: APIRequest.Method, _ pattern: PathPattern, _ access: Access, bodyBytesMax: Int = 0,
    isSearch: Bool = false, _ document: RouteDocument, handle: @escaping Handler
  ) {
    self.method = method
    self.pattern = pattern
    self.access = access
    self.bodyBytesMax = bodyBytesMax
    self.isSearch = isSearch
    self.document = document
    self.handle = handle
  }

  /// Does what a caller asks for who was let in. An act of which no answer came is noted too: it may have been done.
  /// - Throws: 400 for a field of the query that the route does not know; what the route throws.
  package func answer(
    _ request: APIRequest, _ services: Services
  ) async throws(Problem) -> APIResponse {
    try checkQuery(of: request)
    do throws(Problem) { return try await handle(request, services) } catch {
      if error.isUncertain, isAct {
        await services.noteAct(
          "unanswered", app: request.path["app"], subject: "\(method.rawValue) \(pattern.text)",
          detail: request.path.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", "), by: request.caller)
      }
      throw error
    }
  }

  /// Whether it changes what operators may change.
  private var isAct: Bool {
    guard method != .get, case .roles(let roles) = access else { return false }
    return !roles.isDisjoint(with: [.operatorAct, .admin])
  }

  /// A misspelt field must not widen what is meant. Pages and probes may have fields of others.
  private func checkQuery(of request: APIRequest) throws(Problem) {
    guard access != .open else { return }
    let known = document.query.map(\.name)
    for field in request.query where !known.contains(field.name) {
      let fault =
        known.isEmpty
        ? "is not known: this takes no fields"
        : NearestName.unknownField(field.name, among: known)
      let name = DisplayText.fitted(DisplayText.printable(field.name), columns: 64)
      throw .badRequest("\(name) of the query \(fault)")
    }
  }

  /// Who may call a route.
  package enum Access: Sendable, Equatable {
    /// Whoever reaches the port.
    case open
    /// A caller with one of these roles. Where the path has `{app}`, a key of another app is answered as if there were
    /// no such app; where it has none, only keys for all apps are let in. `admin` may whatever `operatorAct` may, and
    /// that whatever `operatorLook` may.
    case roles(Set<Role>)
  }
}

/// The shape of a path: literal segments, parameters in braces, and an action behind a colon in the last one, as in
/// `/v1/apps/{app}/jobs/{id}:cancel`.
package struct PathPattern: Sendable, Equatable, ExpressibleByStringLiteral {
  package enum Segment: Sendable, Equatable {
    case literal(String)
    case parameter(String)
  }

  package let text: String
  package let segments: [Segment]
  /// The word behind the colon of the last segment, without the colon.
  package let action: String?

  package init(stringLiteral text: String) {
    self.text = text
    var parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      .map(String.init)
    var action: String?
    if let last = parts.last, let colon = last.lastIndex(of: ":") {
      action = String(last[last.index(after: colon)...])
      parts[parts.count - 1] = String(last[..<colon])
    }
    self.action = action
    segments = parts.map {
      $0.hasPrefix("{") && $0.hasSuffix("}")
        ? .parameter(String($0.dropFirst().dropLast())) : .literal($0)
    }
  }

  /// The names of its parameters, in their order.
  package var parameters: [String] {
    segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
  }
}

/// The words and schemas by which the API's document (OpenAPI 3.1) describes a route.
package struct RouteDocument: Sendable {
  /// A field of the query.
  package struct QueryField: Sendable {
    package let name: String
    package let meaning: String
    package let schema: JSONValue

    package init(_ name: String, _ meaning: String, _ schema: JSONValue) {
      self.name = name
      self.meaning = meaning
      self.schema = schema
    }
  }

  /// A body, of a request or an answer.
  package struct Content: Sendable {
    package let type: String
    package let schema: JSONValue

    package static func json(_ schema: JSONValue) -> Content {
      Content(type: "application/json", schema: schema)
    }

    package init(type: String, schema: JSONValue) {
      self.type = type
      self.schema = schema
    }
  }

  /// An answer that is no problem; the problems that any route may answer are added to each.
  package struct Answer: Sendable {
    package let status: Int
    package let meaning: String
    package let content: Content?

    package init(_ status: Int, _ meaning: String, _ content: Content? = nil) {
      self.status = status
      self.meaning = meaning
      self.content = content
    }
  }

  /// A word that is the same for each route of a group, such as "installations".
  package let group: String
  /// One line.
  package let summary: String
  package let text: String
  package let query: [QueryField]
  /// Header fields that it heeds, with what they mean.
  package let headers: [(name: String, meaning: String)]
  package let request: Content?
  package let answers: [Answer]
  /// Statuses of problems beside those that every route may answer, with what they mean here.
  package let problems: [(status: Int, meaning: String)]

  package init(
    _ group: String, _ summary: String, _ text: String = "", query: [QueryField] = [],
    headers: [(name: String, meaning: String)] = [], request: Content? = nil, answers: [Answer],
    problems: [(status: Int, meaning: String)] = []
  ) {
    self.group = group
    self.summary = summary
    self.text = text
    self.query = query
    self.headers = headers
    self.request = request
    self.answers = answers
    self.problems = problems
  }
}
