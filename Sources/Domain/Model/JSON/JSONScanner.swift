/// One pass over the bytes of a document.
struct JSONScanner {
  let base: UnsafePointer<UInt8>
  let end: Int
  let depthMax: Int
  var valuesLeft: Int
  var offset = 0

  init(base: UnsafePointer<UInt8>, end: Int, depthMax: Int, valuesLeft: Int) {
    self.base = base
    self.end = end
    self.depthMax = depthMax
    self.valuesLeft = valuesLeft
  }

  mutating func document() throws(JSONSyntaxError) -> JSONValue {
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    guard offset == end else { throw failure("there is more after the end of the value") }
    return value
  }

  func failure(_ message: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: offset, message: message)
  }

  private mutating func skipSpace() {
    while offset < end {
      switch base[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset &+= 1
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard offset < end else { throw failure("ends where a value should be") }
    valuesLeft -= 1
    guard valuesLeft >= 0 else { throw failure("holds too many values") }
    switch base[offset] {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw failure("a value should begin here")
    }
  }

  private mutating func literal(
    _ word: StaticString, _ value: JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    let length = word.utf8CodeUnitCount
    for position in 0..<length {
      guard offset + position < end, base[offset + position] == word.utf8Start[position] else {
        throw failure("should be \"\(word)\"")
      }
    }
    offset += length
    return value
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
    guard depth <= depthMax else { throw failure("is nested deeper than \(depthMax) levels") }
    offset += 1
    var items: [JSONValue] = []
    skipSpace()
    if offset < end, base[offset] == UInt8(ascii: "]") {
      offset += 1
      return items
    }
    while true {
      skipSpace()
      items.append(try value(depth: depth))
      skipSpace()
      guard offset < end else { throw failure("ends within an array") }
      switch base[offset] {
      case UInt8(ascii: ","): offset += 1
      case UInt8(ascii: "]"):
        offset += 1
        return items
      default: throw failure("an array goes on with a comma or ends with ]")
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
    guard depth <= depthMax else { throw failure("is nested deeper than \(depthMax) levels") }
    offset += 1
    var object = JSONObject()
    skipSpace()
    if offset < end, base[offset] == UInt8(ascii: "}") {
      offset += 1
      return object
    }
    while true {
      skipSpace()
      guard offset < end, base[offset] == UInt8(ascii: "\"") else {
        throw failure("a member's name in quotes should begin here")
      }
      let nameOffset = offset
      let name = try string()
      skipSpace()
      guard offset < end, base[offset] == UInt8(ascii: ":") else {
        throw failure("a colon should follow a member's name")
      }
      offset += 1
      skipSpace()
      guard object.insert(try value(depth: depth), for: name) else {
        throw JSONSyntaxError(
          offset: nameOffset,
          message: "\"\(FieldPointer.printable(name))\" occurs twice in one object")
      }
      skipSpace()
      guard offset < end else { throw failure("ends within an object") }
      switch base[offset] {
      case UInt8(ascii: ","): offset += 1
      case UInt8(ascii: "}"):
        offset += 1
        return object
      default: throw failure("an object goes on with a comma or ends with }")
      }
    }
  }
}
