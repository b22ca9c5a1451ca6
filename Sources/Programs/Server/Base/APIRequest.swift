package import Model

/// A request that was read whole, as the routes see it.
package struct APIRequest: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  package let method: Method
  /// The values of the path's parameters by their names, percent-decoded.
  package let path: [String: String]
  /// The fields of the query in their order, percent-decoded.
  package let query: [(name: String, value: String)]
  /// Header fields by their names in lower case; of several of one name the first.
  package let headers: [String: String]
  package let body: [UInt8]
  package let caller: Caller
  /// A name of this request, for people who look for it in a log.
  package let id: String

  package init(
    _ method: Method, path: [String: String], query: [(name: String, value: String)] = [],
    headers: [String: String] = [:], body: [UInt8] = [], caller: Caller, id: String
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.caller = caller
    self.id = id
  }

  /// A parameter of the path; the route's pattern has it.
  package func parameter(_ name: String) -> String { path[name] ?? "" }

  /// A field of the query; nil when it is not there.
  /// - Throws: when it is there twice.
  package func queryValue(_ name: String) throws(Problem) -> String? {
    let found = query.filter { $0.name == name }
    guard found.count <= 1 else {
      throw .badRequest("the query has \(name) twice: give it once")
    }
    return found.first?.value
  }

  /// A whole number of the query.
  package func queryInteger(
    _ name: String, in range: ClosedRange<Int>, default usual: Int
  ) throws(Problem) -> Int {
    guard let text = try queryValue(name) else { return usual }
    guard let value = Int(text), range.contains(value) else {
      throw .badRequest(
        "\(name) of the query must be a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return value
  }

  /// The body as JSON.
  /// - Throws: 400 where it is none, with the offset at which it breaks.
  package func json() throws(Problem) -> JSONValue {
    do throws(JSONSyntaxError) { return try JSONParser().parse(body) } catch {
      throw .badRequest("the body is not JSON: \(error.description)")
    }
  }
}
