internal import Glibc

extension UnsafeRawBufferPointer {
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0 else { return true }
    return memcmp(baseAddress!, other.baseAddress!, count) == 0
  }

  func equals(_ text: StaticString) -> Bool {
    equals(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func starts(with text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard length > 0 else { return true }
    return count >= length && memcmp(baseAddress!, text.utf8Start, length) == 0
  }

  func ends(with text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard length > 0 else { return true }
    return count >= length && memcmp(baseAddress! + (count - length), text.utf8Start, length) == 0
  }

  func starts(with prefix: [UInt8]) -> Bool {
    guard !prefix.isEmpty else { return true }
    guard count >= prefix.count else { return false }
    return prefix.withUnsafeBytes { memcmp(baseAddress!, $0.baseAddress!, $0.count) == 0 }
  }

  func dropping(_ length: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[length...])
  }

  func taking(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }

  func firstOffset(of byte: UInt8) -> Int? {
    guard count > 0, let found = memchr(baseAddress!, CInt(byte), count) else { return nil }
    return UnsafeRawPointer(found) - baseAddress!
  }

  /// A decimal number of at most 18 digits; nil when it is anything else.
  var decimal: Int64? {
    guard (1...18).contains(count) else { return nil }
    var value: Int64 = 0
    for byte in self {
      guard byte >= 0x30 && byte <= 0x39 else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    return value
  }

  var isHex: Bool {
    for byte in self {
      switch byte {
      case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
      default: return false
      }
    }
    return true
  }

  /// Whether it is written as RFC 9562 (4) writes one.
  var isUUID: Bool {
    guard count == 36 else { return false }
    for (index, byte) in enumerated() {
      switch (index, byte) {
      case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")),
        (23, UInt8(ascii: "-")):
        continue
      case (8, _), (13, _), (18, _), (23, _): return false
      case (_, 0x30...0x39), (_, 0x41...0x46), (_, 0x61...0x66): continue
      default: return false
      }
    }
    return true
  }

  var text: String { String(decoding: self, as: UTF8.self) }
}
