extension JSONScanner {
  /// RFC 8259 section 6: no leading zero, no plus sign, a digit on both sides of the point.
  mutating func number() throws(JSONSyntaxError) -> JSONNumber {
    let start = offset
    if base[offset] == UInt8(ascii: "-") { offset += 1 }
    if offset < end, base[offset] == UInt8(ascii: "0") {
      offset += 1
      if offset < end, isDigit(base[offset]) { throw failure("a number begins with one zero") }
    } else {
      try digits()
    }
    if offset < end, base[offset] == UInt8(ascii: ".") {
      offset += 1
      try digits()
    }
    if offset < end, base[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < end, base[offset] == UInt8(ascii: "+") || base[offset] == UInt8(ascii: "-") {
        offset += 1
      }
      try digits()
    }
    guard offset - start <= Limits.jsonNumberBytesMax else {
      throw failure("a number is longer than \(Limits.jsonNumberBytesMax) characters")
    }
    let text = UnsafeBufferPointer(start: base + start, count: offset - start)
    return JSONNumber(checked: String(decoding: text, as: UTF8.self))
  }

  private mutating func digits() throws(JSONSyntaxError) {
    guard offset < end, isDigit(base[offset]) else { throw failure("a digit should be here") }
    while offset < end, isDigit(base[offset]) { offset += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}
