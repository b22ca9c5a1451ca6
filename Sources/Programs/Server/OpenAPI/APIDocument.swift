package import Model

/// The document of the API: OpenAPI 3.1 (spec.openapis.org/oas/v3.1.1), made of the routes that are served.
package struct APIDocument: Sendable {
  private let routes: [APIRoute]

  package init(routes: [APIRoute]) { self.routes = routes }

  package var json: JSONValue {
    [
      "openapi": .string("3.1.0"),
      "info": [
        "title": .string("pushpool"), "version": .string("1"),
        "summary": .string("Push notifications for many apps, by \(Network.displayNames)"),
        "description": .string(
          "Devices register, backends add jobs, operators look and act. Instants are epoch milliseconds. Each answer has a "
            + "Request-Id. An action stands behind a colon of the path, which must not be encoded there; in all other "
            + "places encode it."),
      ],
      "tags": .array(groups.map { ["name": .string($0)] }),
      "paths": .object(paths),
      "components": [
        "securitySchemes": .object(APISecurity.schemes),
        "schemas": ["Problem": APIProblems.schema],
        "responses": .object(APIProblems.responses),
        "headers": .object(APIProblems.headers),
      ],
    ]
  }

  /// The groups in the order of the routes.
  private var groups: [String] {
    var groups: [String] = []
    for route in routes where !groups.contains(route.document.group) {
      groups.append(route.document.group)
    }
    return groups
  }

  private var paths: JSONObject {
    var order: [String] = []
    var operations: [String: JSONObject] = [:]
    for route in routes {
      let path = route.pattern.text
      if operations[path] == nil { order.append(path) }
      operations[path, default: [:]][route.method.rawValue.lowercased()] = .object(
        operation(route))
    }
    var paths = JSONObject()
    for path in order { paths[path] = .object(operations[path] ?? [:]) }
    return paths
  }

  // MARK: One route

  private func operation(_ route: APIRoute) -> JSONObject {
    let document = route.document
    var object: JSONObject = [
      "operationId": .string(Self.name(of: route)), "tags": .array([.string(document.group)]),
      "summary": .string(document.summary),
    ]
    if !document.text.isEmpty { object["description"] = .string(document.text) }
    let parameters = parameters(of: route)
    if !parameters.isEmpty { object["parameters"] = .array(parameters) }
    if let request = document.request {
      object["requestBody"] = ["required": .bool(true), "content": Self.content(request)]
    }
    object["responses"] = .object(responses(to: route))
    object["security"] = .array(APISecurity.requirements(of: route.access))
    if case .roles(let roles) = route.access {
      object["x-roles"] = .array(
        APISecurity.admitted(roles).map { .string($0.rawValue) })
    }
    return object
  }

  /// A name that no other route has: its method, and the words of its path.
  static func name(of route: APIRoute) -> String {
    var words = route.pattern.segments.map { segment in
      switch segment {
      case .literal(let text): text
      case .parameter(let name): name
      }
    }
    if words.first == "v1" { words.removeFirst() }
    if let action = route.pattern.action { words.append(action) }
    let parts = words.flatMap { $0.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) } }
    return route.method.rawValue.lowercased()
      + parts.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private func parameters(of route: APIRoute) -> [JSONValue] {
    let path = route.pattern.parameters.map { name -> JSONValue in
      let parameter = PathParameter(name, in: route.pattern)
      return [
        "name": .string(name), "in": .string("path"), "required": .bool(true),
        "description": .string(parameter.meaning), "schema": parameter.schema,
      ]
    }
    let query = route.document.query.map { field -> JSONValue in
      [
        "name": .string(field.name), "in": .string("query"),
        "description": .string(field.meaning), "schema": field.schema,
      ]
    }
    // Those that the document has other places for (OpenAPI, Parameter Object).
    let elsewhere = ["accept", "content-type", "authorization", "cookie"]
    let headers = route.document.headers.filter { !elsewhere.contains($0.name.lowercased()) }
      .map { header -> JSONValue in
        [
          "name": .string(header.name), "in": .string("header"),
          "description": .string(header.meaning), "schema": Schema.string(),
        ]
      }
    return path + query + headers
  }

  private static func content(_ content: RouteDocument.Content) -> JSONValue {
    var object = JSONObject()
    object[content.type] = ["schema": content.schema]
    return .object(object)
  }

  private func responses(to route: APIRoute) -> JSONObject {
    var responses = JSONObject()
    for answer in route.document.answers {
      var object: JSONObject = [
        "description": .string(answer.meaning), "headers": .object(APIProblems.commonHeaders),
      ]
      object["content"] = answer.content.map(Self.content)
      responses[String(answer.status)] = .object(object)
    }
    // Two meanings of one status are told together.
    for problem in route.document.problems {
      let status = String(problem.status)
      let alike = route.document.problems.filter { $0.status == problem.status }
      if responses[status] == nil {
        responses[status] = APIProblems.response(
          problem.status, alike.map(\.meaning).joined(separator: " "))
      }
    }
    for status in APIProblems.statuses(of: route) where responses[String(status)] == nil {
      responses[String(status)] = APIProblems.reference(to: status)
    }
    return responses
  }
}
