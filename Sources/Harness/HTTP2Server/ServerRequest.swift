internal import Glibc

/// One request at a server connection, and its answer's body. Objects are reused: valid until the
/// stream has closed.
package final class ServerRequest {
  private struct Field {
    let name: Range<Int>
    let value: Range<Int>
  }

  package fileprivate(set) var streamID: Int32 = 0
  /// The stream is gone: an answer would reach nobody.
  package var isClosed = true
  package var isAnswered = false
  /// How often this object has been used: tells a reused object from the request once held.
  package private(set) var use: UInt64 = 0

  private var fields: [Field] = []
  private var headerBytes: [UInt8] = []
  private var bodyBytes: [UInt8] = []
  private var pathField: Int?
  private var methodField: Int?

  var answerBody: [UInt8] = []
  var answerOffset = 0

  func begin(streamID: Int32) {
    self.streamID = streamID
    isClosed = false
    isAnswered = false
    use &+= 1
    fields.removeAll(keepingCapacity: true)
    headerBytes.removeAll(keepingCapacity: true)
    bodyBytes.removeAll(keepingCapacity: true)
    pathField = nil
    methodField = nil
    answerOffset = 0
  }

  /// - Returns: false when the headers are over their limit.
  func appendField(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
    guard headerBytes.count + name.count + value.count <= HTTP2ServerLimits.requestHeaderBytesMax
    else {
      return false
    }
    let start = headerBytes.count
    headerBytes.append(contentsOf: name)
    headerBytes.append(contentsOf: value)
    let middle = start + name.count
    if name.count == 5, memcmp(name.baseAddress!, ":path", 5) == 0 { pathField = fields.count }
    if name.count == 7, memcmp(name.baseAddress!, ":method", 7) == 0 { methodField = fields.count }
    fields.append(Field(name: start..<middle, value: middle..<headerBytes.count))
    return true
  }

  /// - Returns: false when the body is over its limit.
  func appendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bodyBytes.count + bytes.count <= HTTP2ServerLimits.requestBodyBytesMax else {
      return false
    }
    bodyBytes.append(contentsOf: bytes)
    return true
  }

  package func withPath<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
    withValue(of: pathField, use)
  }

  package func withMethod<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
    withValue(of: methodField, use)
  }

  package func withBody<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
    bodyBytes.withUnsafeBytes(use)
  }

  package var bodyCount: Int { bodyBytes.count }

  /// Hands over every field in order of arrival, pseudo-headers first.
  package func forEachHeader(
    _ use: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) {
    headerBytes.withUnsafeBytes { bytes in
      for field in fields {
        use(
          UnsafeRawBufferPointer(rebasing: bytes[field.name]),
          UnsafeRawBufferPointer(rebasing: bytes[field.value]))
      }
    }
  }

  /// Hands over the value of the first field of that name (lowercase); nil when there is none.
  package func withHeader<Result>(
    _ name: StaticString, _ use: (UnsafeRawBufferPointer?) -> Result
  ) -> Result {
    headerBytes.withUnsafeBytes { bytes in
      for field in fields
      where field.name.count == name.utf8CodeUnitCount
        && memcmp(bytes.baseAddress! + field.name.lowerBound, name.utf8Start, field.name.count) == 0
      {
        return use(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
      }
      return use(nil)
    }
  }

  private func withValue<Result>(
    of field: Int?, _ use: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    headerBytes.withUnsafeBytes { bytes in
      guard let field else { return use(UnsafeRawBufferPointer(start: nil, count: 0)) }
      return use(UnsafeRawBufferPointer(rebasing: bytes[fields[field].value]))
    }
  }
}
