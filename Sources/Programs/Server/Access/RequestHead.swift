internal import Operations

/// A request before its body is read: all that tells who sends it.
package struct RequestHead: Sendable {
  package let method: APIRequest.Method
  /// The path as it stands in the request, percent-encoded, with the query.
  package let path: String
  /// Header fields by their names in lower case. Of several `x-forwarded-…` all, in their order, with commas between.
  package let headers: [String: String]
  /// The address of the peer, which may be a proxy's, as text without a port.
  package let address: String

  package init(
    _ method: APIRequest.Method, path: String, headers: [String: String], address: String
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.address = address
  }

  /// Whether the path or the query shows a key: proxies and logs have it then.
  var showsKey: Bool {
    path.utf8.contains(UInt8(ascii: "%"))
      ? KeyText.stands(in: PercentText.legible(path)) : KeyText.stands(in: path)
  }
}
