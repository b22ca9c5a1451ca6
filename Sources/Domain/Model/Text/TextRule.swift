private import Glibc

/// Which bytes an identifier or a piece of text may hold.
package enum TextRule {
  /// C0, DEL and C1.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Controls, ends of lines, and the marks that turn the direction of what follows (Unicode, Bidi_Control): what no log and no
  /// terminal is to show of somebody else's text.
  package static func isUnsafeToShow(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The UTF-8 of `text`: in place for every string that Swift made, a copy for others. Going through
  /// `text.utf8` byte by byte costs several times as much.
  @inline(__always)
  static func withBytes<Result>(
    _ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    text.utf8.withContiguousStorageIfAvailable(body)
      ?? Array(text.utf8).withUnsafeBufferPointer(body)
  }

  /// Whether `text` holds a control character. ASCII, the usual case, is decided on bytes.
  package static func hasControl(_ text: String) -> Bool {
    let (hasControl, seen) = withBytes(text) { bytes in
      var seen: UInt8 = 0
      var hasControl = false
      for byte in bytes {
        hasControl = hasControl || byte < 0x20 || byte == 0x7F
        seen |= byte
      }
      return (hasControl, seen)
    }
    return hasControl || (seen >= 0x80 && text.unicodeScalars.contains(where: isControl))
  }

  /// Whether `text` can be the value of a header as it is: printable ASCII without a space at either end. Anything else
  /// makes the request malformed, or is another value for some who read it (RFC 9113, 8.2.1; RFC 9110, 5.5).
  package static func isHeaderValue(_ text: String) -> Bool {
    withBytes(text) { bytes in
      bytes.first != 0x20 && bytes.last != 0x20 && bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
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
    let marks = UnsafeBufferPointer(start: others.utf8Start, count: others.utf8CodeUnitCount)
    return withBytes(text) { $0.allSatisfy { isLetterOrDigit($0) || marks.contains($0) } }
  }

  /// Whether a text is so many hexadecimal digits, in lower case.
  package static func isHexadecimal(_ text: String, digits count: Int) -> Bool {
    withBytes(text) { bytes in
      bytes.count == count
        && bytes.allSatisfy {
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }
  }

  /// Byte for byte, where `==` would also accept another normalisation of the same characters.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    withBytes(one) { one in
      withBytes(other) { other in
        one.count == other.count && compare(one, other, count: one.count) == 0
      }
    }
  }

  /// The order of the UTF-8 bytes.
  package static func precedes(_ one: String, _ other: String) -> Bool {
    withBytes(one) { one in
      withBytes(other) { other in
        let order = compare(one, other, count: min(one.count, other.count))
        return order < 0 || order == 0 && one.count < other.count
      }
    }
  }

  /// Below 0, 0 or above it, as the first `count` bytes of one come before, are or come behind those of the other.
  private static func compare(
    _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>, count: Int
  ) -> Int32 {
    guard let one = one.baseAddress, let other = other.baseAddress else { return 0 }
    return memcmp(one, other, count)
  }
}
