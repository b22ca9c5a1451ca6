/// Reads JSON (RFC 8259, strictly) within limits: UTF-8 is checked, a repeated name in an object is refused.
package struct JSONParser: Sendable {
  package let depthMax: Int
  package let bytesMax: Int
  package let valuesMax: Int

  package init(
    depthMax: Int = Limits.jsonDepthMax, bytesMax: Int = Limits.jobBytesMax,
    valuesMax: Int = Limits.jsonValuesMax
  ) {
    self.depthMax = depthMax
    self.bytesMax = bytesMax
    self.valuesMax = valuesMax
  }

  package func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) -> JSONValue {
    guard bytes.count <= bytesMax else {
      throw JSONSyntaxError(
        offset: bytesMax, message: "is \(bytes.count) bytes long, at most \(bytesMax) are read")
    }
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      throw JSONSyntaxError(offset: 0, message: "is empty")
    }
    var scanner = JSONScanner(
      base: base, end: bytes.count, depthMax: depthMax, valuesLeft: valuesMax)
    do throws(JSONSyntaxError) { return try scanner.document() } catch {
      guard let mistake = EncodingMistake(bytes) else { throw error }
      throw JSONSyntaxError(offset: 0, message: mistake.rawValue)
    }
  }

  package func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) -> JSONValue {
    try parse(bytes.bindMemory(to: UInt8.self))
  }

  package func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    try bytes.withUnsafeBufferPointer { (buffer) throws(JSONSyntaxError) in try parse(buffer) }
  }

  package func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
    try parse(Array(text.utf8))
  }
}

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
