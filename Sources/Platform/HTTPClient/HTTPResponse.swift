/// A complete response, whatever its status: a 500 is an answer, not an error.
package struct HTTPResponse: Sendable {
  package let status: Int
  /// In the order they came; names are lowercase.
  package let headers: [(name: String, value: String)]
  /// At most `HTTPClientLimits.bodyBytesMax` bytes.
  package let body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first value of a header; `name` is lowercase.
  package func header(_ name: String) -> String? {
    headers.first { $0.name == name }?.value
  }
}
