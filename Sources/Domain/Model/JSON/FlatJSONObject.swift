/// A small JSON object of texts, numbers and booleans, read where it lies: nothing is made of it. It serves what is read for
/// each receiver; anything but the plainest form is `JSONParser`'s.
package enum FlatJSONObject {
  package typealias Member = (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

  /// Members of the largest object that is read here.
  private static let membersMax = 8

  /// Calls the body with the members: names and texts without their quotes, numbers and booleans as they are written.
  /// - Returns: false when the object is not of this form; the body was not called then.
  package static func withMembers(
    of json: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<Member>) -> Void
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: Member.self, capacity: membersMax) { members in
      guard let count = read(json, into: members), isText(json) else { return false }
      body(UnsafeBufferPointer(rebasing: members[..<count]))
      return true
    }
  }

  private static func isText(_ json: UnsafeRawBufferPointer) -> Bool {
    var seen: UInt8 = 0
    for byte in json { seen |= byte }
    return seen < 0x80 || String(validating: json, as: UTF8.self) != nil
  }

  /// - Returns: how many members there are.
  private static func read(
    _ json: UnsafeRawBufferPointer, into members: UnsafeMutableBufferPointer<Member>
  ) -> Int? {
    var rest = Reader(json: json)
    guard rest.take("{") else { return nil }
    var count = 0
    if rest.take("}") { return rest.isAtEnd ? 0 : nil }
    while count < members.count {
      guard rest.take("\""), let name = rest.text(), rest.take(":"), let value = rest.value(),
        !members[..<count].contains(where: { $0.name.elementsEqual(name) })
      else { return nil }
      members.initializeElement(at: count, to: (name, value))
      count += 1
      if rest.take("}") { return rest.isAtEnd ? count : nil }
      guard rest.take(",") else { return nil }
    }
    return nil
  }

  private struct Reader {
    let json: UnsafeRawBufferPointer
    var offset = 0

    private mutating func skipSpace() {
      while offset < json.count {
        switch json[offset] {
        case 0x20, 0x0A, 0x0D, 0x09: offset += 1
        default: return
        }
      }
    }

    var isAtEnd: Bool {
      mutating get {
        skipSpace()
        return offset == json.count
      }
    }

    mutating func take(_ sign: Unicode.Scalar) -> Bool {
      skipSpace()
      guard offset < json.count, json[offset] == UInt8(ascii: sign) else { return false }
      offset += 1
      return true
    }

    /// Returns the text behind an opening quote; nil when it has an escape or does not end.
    mutating func text() -> UnsafeRawBufferPointer? {
      let start = offset
      while offset < json.count {
        let byte = json[offset]
        offset += 1
        if byte == UInt8(ascii: "\"") {
          return UnsafeRawBufferPointer(rebasing: json[start..<(offset - 1)])
        }
        guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
      }
      return nil
    }

    /// A text, an integer or a boolean.
    mutating func value() -> UnsafeRawBufferPointer? {
      if take("\"") { return text() }
      let start = offset
      while offset < json.count, TextRule.isLetterOrDigit(json[offset]) { offset += 1 }
      let word = UnsafeRawBufferPointer(rebasing: json[start..<offset])
      guard let first = word.first else { return nil }
      if first == UInt8(ascii: "t") { return word.elementsEqual("true".utf8) ? word : nil }
      if first == UInt8(ascii: "f") { return word.elementsEqual("false".utf8) ? word : nil }
      let isInteger = word.count <= 18 && word.allSatisfy { (0x30...0x39).contains($0) }
      return isInteger && (first != 0x30 || word.count == 1) ? word : nil
    }
  }
}
