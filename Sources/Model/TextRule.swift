/// Which bytes an identifier or a piece of text may hold.
package enum TextRule {
  /// C0, DEL and C1.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Whether `text` holds a control character. ASCII, the usual case, is decided on bytes.
  package static func hasControl(_ text: String) -> Bool {
    var isASCII = true
    for byte in text.utf8 {
      if byte < 0x20 || byte == 0x7F { return true }
      if byte >= 0x80 { isASCII = false }
    }
    return isASCII ? false : text.unicodeScalars.contains(where: isControl)
  }

  package static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// Whether every byte is an ASCII letter, digit or one of `others`.
  package static func isWord(_ text: String, others: StaticString) -> Bool {
    text.utf8.allSatisfy { byte in
      isLetterOrDigit(byte)
        || UnsafeBufferPointer(start: others.utf8Start, count: others.utf8CodeUnitCount)
          .contains(byte)
    }
  }

  /// Byte for byte, where `==` would also accept another normalisation of the same characters.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one == other && one.utf8.elementsEqual(other.utf8)
  }

  /// The order of the UTF-8 bytes.
  package static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}
