/// Walks JSON text (RFC 8259) without building values, for bodies that differ with each push.
///
/// It checks the syntax, with nesting bounded by `SimulatorLimits.jsonDepthMax`; it leaves escapes
/// undecoded and does not look into UTF-8 sequences.
struct JSONWalker {
  enum Kind { case object, array, string, number, literal }

  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0
  private var depth = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Whether all the bytes are one JSON object.
  static func isObject(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var scanner = JSONWalker(bytes)
    return scanner.peekKind() == .object && scanner.skipValue() && scanner.isAtEnd()
  }

  mutating func isAtEnd() -> Bool {
    skipSpace()
    return position == bytes.count
  }

  /// Returns what comes next, without moving past it.
  mutating func peekKind() -> Kind? {
    skipSpace()
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "-"), 0x30...0x39: return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return .literal
    default: return nil
    }
  }

  /// Moves past one value.
  mutating func skipValue() -> Bool {
    switch peekKind() {
    case .object: forEachMember { _, scanner in scanner.skipValue() }
    case .array: forEachElement { scanner in scanner.skipValue() }
    case .string: string() != nil
    case .number: skipNumber()
    case .literal: skipLiteral()
    case nil: false
    }
  }

  /// Visits the members of an object; `visit` moves past the value or returns false to give up.
  mutating func forEachMember(
    _ visit: (_ key: UnsafeRawBufferPointer, _ scanner: inout JSONWalker) -> Bool
  ) -> Bool {
    guard enter(UInt8(ascii: "{")) else { return false }
    if leave(UInt8(ascii: "}")) { return true }
    while true {
      skipSpace()
      guard let key = string(), take(UInt8(ascii: ":")), visit(key, &self) else { return false }
      if leave(UInt8(ascii: "}")) { return true }
      guard take(UInt8(ascii: ",")) else { return false }
    }
  }

  /// Visits the elements of an array; `visit` moves past the element or returns false to give up.
  mutating func forEachElement(_ visit: (_ scanner: inout JSONWalker) -> Bool) -> Bool {
    guard enter(UInt8(ascii: "[")) else { return false }
    if leave(UInt8(ascii: "]")) { return true }
    while true {
      guard visit(&self) else { return false }
      if leave(UInt8(ascii: "]")) { return true }
      guard take(UInt8(ascii: ",")) else { return false }
    }
  }

  /// Moves past a string and returns what is between its quotes, escapes as they are written.
  mutating func string() -> UnsafeRawBufferPointer? {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
    position += 1
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        position += 1
        return bytes.taking(start..<position - 1)
      }
      guard byte >= 0x20 else { return nil }
      if byte == UInt8(ascii: "\\") {
        guard skipEscape() else { return nil }
      } else {
        position += 1
      }
    }
    return nil
  }

  /// Whether the literal that comes next is this one.
  mutating func literalIs(_ literal: StaticString) -> Bool {
    peekKind() == .literal && bytes.dropping(position).starts(with: literal)
  }

  /// Moves past a whole number and returns it.
  mutating func integer() -> Int64? {
    guard peekKind() == .number else { return nil }
    let start = position
    guard skipNumber() else { return nil }
    return bytes.taking(start..<position).decimal
  }

  private mutating func skipEscape() -> Bool {
    guard position + 1 < bytes.count else { return false }
    switch bytes[position + 1] {
    case UInt8(ascii: "u"):
      guard position + 6 <= bytes.count, bytes.taking(position + 2..<position + 6).isHex else {
        return false
      }
      position += 6
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    default:
      return false
    }
    return true
  }

  private mutating func skipNumber() -> Bool {
    if peekByte == UInt8(ascii: "-") { position += 1 }
    if peekByte == UInt8(ascii: "0") {
      position += 1
    } else {
      guard skipDigits() else { return false }
    }
    if peekByte == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() else { return false }
    }
    if peekByte == UInt8(ascii: "e") || peekByte == UInt8(ascii: "E") {
      position += 1
      if peekByte == UInt8(ascii: "+") || peekByte == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() else { return false }
    }
    return true
  }

  private mutating func skipDigits() -> Bool {
    let start = position
    while let byte = peekByte, byte >= 0x30 && byte <= 0x39 { position += 1 }
    return position > start
  }

  private mutating func skipLiteral() -> Bool {
    let rest = bytes.dropping(position)
    for literal: StaticString in ["true", "false", "null"] where rest.starts(with: literal) {
      position += literal.utf8CodeUnitCount
      return true
    }
    return false
  }

  private var peekByte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0a, 0x0d: position += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peekByte == byte else { return false }
    position += 1
    return true
  }

  private mutating func enter(_ byte: UInt8) -> Bool {
    guard depth < SimulatorLimits.jsonDepthMax, take(byte) else { return false }
    depth += 1
    return true
  }

  private mutating func leave(_ byte: UInt8) -> Bool {
    guard take(byte) else { return false }
    depth -= 1
    return true
  }
}
