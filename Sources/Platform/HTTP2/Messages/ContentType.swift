internal import Glibc

/// The kind of body that the header Content-Type of an answer names (RFC 9110, 8.3).
package enum ContentType {
  private static let jsonName: StaticString = "application/json"

  /// For answers of this type, of which nothing else is kept.
  package static var json: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: jsonName.utf8Start, count: jsonName.utf8CodeUnitCount)
  }

  /// Whether it begins as that of JSON does, whatever its parameters.
  package static func isJSON(_ value: UnsafeRawBufferPointer) -> Bool {
    value.count >= json.count
      && strncasecmp(
        value.baseAddress!.assumingMemoryBound(to: CChar.self),
        json.baseAddress!.assumingMemoryBound(to: CChar.self), json.count) == 0
  }
}
