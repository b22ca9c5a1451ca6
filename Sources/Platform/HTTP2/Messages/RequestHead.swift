internal import CNGHTTP2

/// The header fields of many requests that differ at most in their path.
///
/// It must outlive the requests submitted with it.
package final class RequestHead {
  static let pathIndex = 3
  let list: HeaderList
  /// Whether every request has this head's own path.
  package let hasFixedPath: Bool

  /// - Parameters:
  ///   - authority: `host` or `host:port` (RFC 9113, 8.3.1).
  ///   - path: the path of all requests; nil when each brings its own, which is then not indexed.
  ///   - headers: lowercase names; values as `TextRule.isHeaderValue` wants them.
  package init(authority: String, path: [UInt8]?, headers: [(name: String, value: String)]) {
    hasFixedPath = path != nil
    list = HeaderList(
      [
        (":method", Array("POST".utf8), true),
        (":scheme", Array("https".utf8), true),
        (":authority", Array(authority.utf8), true),
        (":path", path ?? [], path != nil),
      ] + headers.map { ($0.name, Array($0.value.utf8), true) })
  }

  /// Hands over every field, pseudo-headers first; a path that differs by request is empty.
  package func forEachField(
    _ use: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) {
    for (index, field) in list.fields.enumerated() {
      let hasValue = hasFixedPath || index != Self.pathIndex
      use(
        UnsafeRawBufferPointer(start: field.name, count: field.namelen),
        UnsafeRawBufferPointer(start: field.value, count: hasValue ? field.valuelen : 0))
    }
  }

  /// The fields with the given path in place. The path is copied by nghttp2 when it is submitted.
  func withFields<Result>(
    path: UnsafeRawBufferPointer, _ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Result
  ) -> Result {
    if !hasFixedPath {
      let bytes = path.assumingMemoryBound(to: UInt8.self)
      list.fields[Self.pathIndex].value = UnsafeMutablePointer(mutating: bytes.baseAddress)
      list.fields[Self.pathIndex].valuelen = bytes.count
      list.fields[Self.pathIndex].flags = UInt8(
        NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    }
    return body(list.fields)
  }
}
