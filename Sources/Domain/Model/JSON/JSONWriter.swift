/// Writes compact JSON.
package enum JSONWriter {
  /// Room for a usual notification, so that its text need not grow time and again.
  private static let usualBytes = 512
  /// The most members whose order is found in place; that of more is found on the heap.
  private static let sortedInPlaceMax = 32

  /// Calls the body with the JSON of a value; borrowed.
  /// - Parameter canonical: members in the order of their names' UTF-8 bytes; numbers keep their source text.
  static func withBytes<Result>(
    of value: JSONValue, canonical: Bool, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var output = ByteOutput(capacity: usualBytes)
    write(value, canonical, to: &output)
    return output.withBytes(body)
  }

  private static func write(
    _ value: JSONValue, _ canonical: Bool, to output: inout ByteOutput
  ) {
    switch value {
    case .null: write("null" as StaticString, to: &output)
    case .bool(true): write("true" as StaticString, to: &output)
    case .bool(false): write("false" as StaticString, to: &output)
    case .number(let number):
      TextRule.withBytes(number.text) { output.put(UnsafeRawBufferPointer($0)) }
    case .string(let text): write(text, to: &output)
    case .array(let items):
      output.put(UInt8(ascii: "["))
      for (position, item) in items.enumerated() {
        if position > 0 { output.put(UInt8(ascii: ",")) }
        write(item, canonical, to: &output)
      }
      output.put(UInt8(ascii: "]"))
    case .object(let object): write(object.members, canonical, to: &output)
    }
  }

  private static func write(
    _ members: [JSONObject.Member], _ canonical: Bool, to output: inout ByteOutput
  ) {
    output.put(UInt8(ascii: "{"))
    if !canonical || members.count < 2 {
      for place in members.indices {
        write(members[place], canonical, isFirst: place == 0, to: &output)
      }
    } else if members.count <= sortedInPlaceMax {
      withUnsafeTemporaryAllocation(of: Int.self, capacity: members.count) { order in
        for place in members.indices {
          var target = place
          while target > 0, TextRule.precedes(members[place].name, members[order[target - 1]].name)
          {
            order[target] = order[target - 1]
            target -= 1
          }
          order[target] = place
        }
        for (position, place) in order.enumerated() {
          write(members[place], canonical, isFirst: position == 0, to: &output)
        }
      }
    } else {
      // Of the places: to move the members themselves costs more than all else.
      let order = members.indices.sorted { TextRule.precedes(members[$0].name, members[$1].name) }
      for (position, place) in order.enumerated() {
        write(members[place], canonical, isFirst: position == 0, to: &output)
      }
    }
    output.put(UInt8(ascii: "}"))
  }

  private static func write(
    _ member: JSONObject.Member, _ canonical: Bool, isFirst: Bool, to output: inout ByteOutput
  ) {
    if !isFirst { output.put(UInt8(ascii: ",")) }
    write(member.name, to: &output)
    output.put(UInt8(ascii: ":"))
    write(member.value, canonical, to: &output)
  }

  private static func write(_ word: StaticString, to output: inout some ByteSink & ~Copyable) {
    output.put(UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  /// One string with its quotes.
  package static func appendString(_ text: String, to bytes: inout [UInt8]) {
    write(text, to: &bytes)
  }

  private static func write(_ text: String, to output: inout some ByteSink & ~Copyable) {
    output.put(UInt8(ascii: "\""))
    TextRule.withBytes(text) { writeEscaped(UnsafeRawBufferPointer($0), to: &output) }
    output.put(UInt8(ascii: "\""))
  }

  /// Appends the text between the quotes of a string.
  /// - Parameter content: UTF-8.
  package static func appendEscaped(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    writeEscaped(content, to: &bytes)
  }

  private static func writeEscaped(
    _ content: UnsafeRawBufferPointer, to output: inout some ByteSink & ~Copyable
  ) {
    var copied = 0
    var position = PlainBytes(content).count
    while position < content.count {
      if needsEscape(content[position]) {
        output.put(UnsafeRawBufferPointer(rebasing: content[copied..<position]))
        writeEscape(content[position], to: &output)
        copied = position + 1
      }
      position += 1
    }
    output.put(UnsafeRawBufferPointer(rebasing: content[copied...]))
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

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func writeEscape(
    _ byte: UInt8, to output: inout some ByteSink & ~Copyable
  ) {
    output.put(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.put(byte)
    case 0x08: output.put(UInt8(ascii: "b"))
    case 0x09: output.put(UInt8(ascii: "t"))
    case 0x0A: output.put(UInt8(ascii: "n"))
    case 0x0C: output.put(UInt8(ascii: "f"))
    case 0x0D: output.put(UInt8(ascii: "r"))
    default:
      write("u00" as StaticString, to: &output)
      let digits: StaticString = "0123456789abcdef"
      output.put(digits.utf8Start[Int(byte >> 4)])
      output.put(digits.utf8Start[Int(byte & 15)])
    }
  }
}

extension JSONValue {
  /// Compact JSON; canonical sorts members by name.
  package func bytes(canonical: Bool = false) -> [UInt8] {
    JSONWriter.withBytes(of: self, canonical: canonical) { Array($0) }
  }

  package func text(canonical: Bool = false) -> String {
    JSONWriter.withBytes(of: self, canonical: canonical) { String(decoding: $0, as: UTF8.self) }
  }
}
