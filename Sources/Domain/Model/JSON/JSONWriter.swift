/// Writes compact JSON at the end of a byte array.
package enum JSONWriter {
  /// Room for a usual notification, so that its text need not grow time and again.
  fileprivate static let usualBytes = 512

  /// Canonical: members in the order of their names' UTF-8 bytes; numbers keep their source text.
  package static func append(
    _ value: JSONValue, canonical: Bool = false, to bytes: inout [UInt8]
  ) {
    switch value {
    case .null: append("null", to: &bytes)
    case .bool(true): append("true", to: &bytes)
    case .bool(false): append("false", to: &bytes)
    case .number(let number): bytes.append(contentsOf: number.text.utf8)
    case .string(let text): appendString(text, to: &bytes)
    case .array(let items):
      bytes.append(UInt8(ascii: "["))
      for (position, item) in items.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        append(item, canonical: canonical, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object): append(object, canonical: canonical, to: &bytes)
    }
  }

  package static func append(
    _ object: JSONObject, canonical: Bool = false, to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    func append(_ member: JSONObject.Member) {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      appendString(member.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      self.append(member.value, canonical: canonical, to: &bytes)
    }
    let members = object.members
    if canonical, members.count > 1 {
      // Of the places: to move the members themselves costs more than all else.
      let order = members.indices.sorted { TextRule.precedes(members[$0].name, members[$1].name) }
      for place in order { append(members[place]) }
    } else {
      for member in members { append(member) }
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// One string with its quotes.
  package static func appendString(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    TextRule.withBytes(text) { appendEscaped(UnsafeRawBufferPointer($0), to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// What stands between the quotes of a string.
  /// - Parameter content: UTF-8.
  package static func appendEscaped(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var copied = 0
    var position = plainCount(content)
    while position < content.count {
      if needsEscape(content[position]) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: content[copied..<position]))
        appendEscape(content[position], to: &bytes)
        copied = position + 1
      }
      position += 1
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: content[copied...]))
  }

  /// How many bytes at the beginning are surely written as they are; looked at eight at a time, since most texts are to
  /// their end.
  private static func plainCount(_ content: UnsafeRawBufferPointer) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    /// The top bit of each byte that is 0, and of none before the first such byte.
    func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }
    var position = 0
    while position + 8 <= content.count {
      let word = content.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let controls = (word &- ones &* 0x20) & ~word & tops
      let quotes = zeros(word ^ ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = zeros(word ^ ones &* UInt64(UInt8(ascii: "\\")))
      if controls | quotes | backslashes != 0 { break }
      position += 8
    }
    return position
  }

  /// The bytes of the text that `appendEscaped` has written this of.
  package static func unescapedCount(_ escaped: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var position = 0
    while position < escaped.count {
      let isEscape = escaped[position] == UInt8(ascii: "\\") && position + 1 < escaped.count
      position += !isEscape ? 1 : escaped[position + 1] == UInt8(ascii: "u") ? 6 : 2
      count += 1
    }
    return count
  }

  private static func append(_ word: StaticString, to bytes: inout [UInt8]) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      append("u00", to: &bytes)
      let digits: StaticString = "0123456789abcdef"
      bytes.append(digits.utf8Start[Int(byte >> 4)])
      bytes.append(digits.utf8Start[Int(byte & 15)])
    }
  }
}

extension JSONValue {
  /// Compact JSON; canonical sorts members by name.
  package func bytes(canonical: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(JSONWriter.usualBytes)
    JSONWriter.append(self, canonical: canonical, to: &bytes)
    return bytes
  }

  package func text(canonical: Bool = false) -> String {
    String(decoding: bytes(canonical: canonical), as: UTF8.self)
  }
}
