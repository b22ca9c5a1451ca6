package import Model

/// The answer to a request.
package struct APIResponse: Sendable {
  package enum Body: Sendable {
    case none
    case json(JSONValue)
    /// Bytes of a media type.
    case bytes([UInt8], type: String)
    /// Parts that are written one after another until the body ends or the client has gone, of a media type.
    case stream(type: String, @Sendable (any APIBodyWriter) async throws -> Void)
  }

  package var status: Int
  /// Names in lower case.
  package var headers: [(name: String, value: String)]
  package var body: Body

  package init(_ status: Int, _ body: Body = .none, headers: [(name: String, value: String)] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package static func ok(_ value: JSONValue) -> APIResponse { APIResponse(200, .json(value)) }
  package static var noContent: APIResponse { APIResponse(204) }

  package func with(_ name: String, _ value: String) -> APIResponse {
    var response = self
    response.headers.append((name: name, value: value))
    return response
  }
}

/// Takes the parts of a streamed body.
package protocol APIBodyWriter: Sendable {
  /// Returns when the connection has room for more.
  func write(_ bytes: [UInt8]) async throws
}
