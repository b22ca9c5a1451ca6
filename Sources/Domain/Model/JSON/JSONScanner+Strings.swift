extension JSONScanner {
  /// The string whose opening quote is at the offset. Without an escape it is one copy.
  mutating func string() throws(JSONSyntaxError) -> String {
    let start = offset + 1
    let plain = PlainBytes(UnsafeRawBufferPointer(start: base + start, count: end - start))
    var position = start + plain.count
    var seen: UInt8 = plain.areASCII ? 0 : 0x80
    while position < end {
      let byte = base[position]
      if byte == UInt8(ascii: "\"") {
        let content = UnsafeBufferPointer(start: base + start, count: position - start)
        if seen < 0x80 {
          offset = position + 1
          return Self.text(content)
        }
        guard let text = String(validating: content, as: UTF8.self) else {
          throw failure("a string is not valid UTF-8")
        }
        offset = position + 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start, escapeAt: position) }
      if byte < 0x20 {
        offset = position
        throw failure("a control character in a string must be escaped")
      }
      seen |= byte
      position &+= 1
    }
    offset = end
    throw failure("ends within a string")
  }

  /// - Parameter content: ASCII.
  private static func text(_ content: UnsafeBufferPointer<UInt8>) -> String {
    guard content.count <= smallBytesMax else { return String(decoding: content, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: content.count) { $0.initialize(from: content).1 }
  }

  /// A string of so many bytes holds them itself, and is made sooner in this way.
  private static let smallBytesMax = 15

  private mutating func escapedString(
    from start: Int, escapeAt: Int
  ) throws(JSONSyntaxError) -> String {
    var bytes = [UInt8](UnsafeBufferPointer(start: base + start, count: escapeAt - start))
    offset = escapeAt
    while offset < end {
      let byte = base[offset]
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          offset = start - 1
          throw failure("a string is not valid UTF-8")
        }
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        try appendEscape(to: &bytes)
      case 0..<0x20:
        throw failure("a control character in a string must be escaped")
      default:
        bytes.append(byte)
        offset += 1
      }
    }
    throw failure("ends within a string")
  }

  private mutating func appendEscape(to bytes: inout [UInt8]) throws(JSONSyntaxError) {
    guard offset + 1 < end else { throw failure("ends within a string") }
    let simple: UInt8
    switch base[offset + 1] {
    case UInt8(ascii: "\""): simple = UInt8(ascii: "\"")
    case UInt8(ascii: "\\"): simple = UInt8(ascii: "\\")
    case UInt8(ascii: "/"): simple = UInt8(ascii: "/")
    case UInt8(ascii: "b"): simple = 0x08
    case UInt8(ascii: "f"): simple = 0x0C
    case UInt8(ascii: "n"): simple = 0x0A
    case UInt8(ascii: "r"): simple = 0x0D
    case UInt8(ascii: "t"): simple = 0x09
    case UInt8(ascii: "u"):
      let scalar = try escapedScalar()
      bytes.append(contentsOf: UTF8.encode(scalar)!)
      return
    default: throw failure("there is no such escape in JSON")
    }
    bytes.append(simple)
    offset += 2
  }

  /// `\uXXXX`, or two of them for a scalar beyond the basic plane; half a pair is refused.
  private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try escapedUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00 else {
      offset -= 6
      throw failure("a low surrogate stands alone")
    }
    guard offset + 1 < end, base[offset] == UInt8(ascii: "\\"),
      base[offset + 1] == UInt8(ascii: "u")
    else { throw failure("a high surrogate stands alone") }
    let second = try escapedUnit()
    guard second >= 0xDC00, second <= 0xDFFF,
      let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    else {
      offset -= 6
      throw failure("a high surrogate stands alone")
    }
    return scalar
  }

  private mutating func escapedUnit() throws(JSONSyntaxError) -> UInt32 {
    guard offset + 6 <= end else { throw failure("\\u needs four hexadecimal digits") }
    var unit: UInt32 = 0
    for position in (offset + 2)..<(offset + 6) {
      let digit: UInt8
      switch base[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = base[position] - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = base[position] - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = base[position] - UInt8(ascii: "A") + 10
      default: throw failure("\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
    }
    offset += 6
    return unit
  }
}
