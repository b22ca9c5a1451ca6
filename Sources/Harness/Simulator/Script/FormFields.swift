/// The fields of an application/x-www-form-urlencoded body (WHATWG URL, 5.1).
struct FormFields {
  private var values: [String: String] = [:]

  init(_ body: UnsafeRawBufferPointer) {
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard let name = parts.first else { continue }
      values[Self.decode(name)] = parts.count > 1 ? Self.decode(parts[1]) : ""
    }
  }

  subscript(name: String) -> String? { values[name] }

  private static func decode(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+") {
        decoded.append(0x20)
      } else if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        decoded.append(value)
        rest.removeFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
