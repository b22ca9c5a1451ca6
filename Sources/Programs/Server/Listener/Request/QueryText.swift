/// The query of a request, as browsers and libraries write it (application/x-www-form-urlencoded).
enum QueryText {
  /// The fields in their order, decoded.
  /// - Parameter text: behind the question mark; nil for none.
  static func fields(_ text: Substring?) throws(Problem) -> [(name: String, value: String)] {
    guard let text, !text.isEmpty else { return [] }
    var fields: [(name: String, value: String)] = []
    for part in text.split(separator: "&") {
      guard fields.count < ServerLimits.queryFieldsMax else {
        throw .badRequest("a query has at most \(ServerLimits.queryFieldsMax) fields")
      }
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append(
        (name: try decoded(sides[0]), value: sides.count == 2 ? try decoded(sides[1]) : ""))
    }
    return fields
  }

  private static func decoded(_ text: Substring) throws(Problem) -> String {
    let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    guard let bytes = PercentText.bytes(of: spaced) else {
      throw .badRequest("% in a query must have two hexadecimal digits behind it: write %25 for %")
    }
    guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
      throw .badRequest("a query must be UTF-8 without %00, percent-encoded")
    }
    return decoded
  }
}
