/// Why some bytes are not a JSON document (RFC 8259), or not one within the limits.
package struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
  /// Byte offset of the first byte that is wrong.
  package let offset: Int
  package let message: String

  package init(offset: Int, message: String) {
    self.offset = offset
    self.message = message
  }

  package var description: String { "not valid JSON at byte \(offset): \(message)" }
}
