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
      ? KeyText.stands(in: Self.percentDecoded(path)) : KeyText.stands(in: path)
  }

  /// Reads each `%XX`; what is none stays as it is.
  private static func percentDecoded(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
        let high = hexDigit(bytes[position + 1]), let low = hexDigit(bytes[position + 2])
      {
        decoded.append(high << 4 | low)
        position += 3
      } else {
        decoded.append(bytes[position])
        position += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
