internal import Model

/// The rules that the head of a request must keep beside those of the parser: what others in front of this server might
/// read otherwise is refused.
enum HeadRules {
  /// A head as it was sent.
  struct Head {
    let method: String
    /// The target: a path with a query.
    let target: String
    let major: Int
    let minor: Int
    let fields: [(name: String, value: String)]

    /// The values of a field.
    func values(_ name: String) -> [String] {
      fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
  }

  /// Says what is wrong; nil when nothing is.
  static func fault(in head: Head) -> Problem? {
    guard head.major == 1, head.minor <= 1 else {
      return Problem(505, "http version not supported", "this server speaks HTTP/1.1")
    }
    // An absolute target names a host beside the field, and proxies do not agree on which counts.
    guard head.target.utf8.first == UInt8(ascii: "/") else {
      return .badRequest("the target of a request is a path that begins with a slash")
    }
    guard head.target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
    else {
      return .badRequest("the path and the query hold visible ASCII: percent-encode all else")
    }
    for field in head.fields {
      guard field.value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
        return .badRequest("a header field holds a control character")
      }
    }
    return hostFault(head) ?? lengthFault(head) ?? expectationFault(head)
  }

  private static func hostFault(_ head: Head) -> Problem? {
    let hosts = head.values("host")
    guard hosts.count == 1 || (hosts.isEmpty && head.minor == 0) else {
      return .badRequest("a request has one field host, and this one has \(hosts.count)")
    }
    if let host = hosts.first, host.isEmpty || !TextRule.isWord(host, others: ".-_:[]%") {
      return .badRequest("the field host must be a host and perhaps a port")
    }
    guard head.values("authorization").count <= 1 else {
      return .badRequest("a request has one field authorization at most")
    }
    return nil
  }

  private static func lengthFault(_ head: Head) -> Problem? {
    let lengths = head.values("content-length")
    let codings = head.values("transfer-encoding")
    guard lengths.count <= 1 else {
      return .badRequest("a request has one field content-length at most")
    }
    if let length = lengths.first {
      guard (1...18).contains(length.utf8.count),
        length.utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return .badRequest("content-length must be a whole number") }
    }
    guard !codings.isEmpty else { return nil }
    // RFC 9112, 6.1 and 6.3: what two readers of one connection disagree on is a way to smuggle requests.
    guard lengths.isEmpty else {
      return .badRequest("content-length must not stand beside transfer-encoding")
    }
    guard head.minor == 1 else {
      return .badRequest("HTTP/1.0 has no transfer-encoding")
    }
    guard codings.count == 1, codings[0].lowercased() == "chunked" else {
      return Problem(501, "not implemented", "the one transfer-encoding that is read is chunked")
    }
    return nil
  }

  private static func expectationFault(_ head: Head) -> Problem? {
    let expectations = head.values("expect")
    guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else {
      return Problem(417, "expectation failed", "the one expectation that is met is 100-continue")
    }
    return nil
  }
}
