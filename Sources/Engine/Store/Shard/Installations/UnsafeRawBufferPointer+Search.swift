internal import Glibc

extension UnsafeRawBufferPointer {
  /// The offset of the first such byte; nil when there is none. The standard library's search goes byte by
  /// byte, and lines are parsed for every push.
  func offset(of byte: UInt8) -> Int? {
    guard let baseAddress, let found = memchr(baseAddress, CInt(byte), count) else { return nil }
    return UnsafeRawPointer(found) - baseAddress
  }

  /// Whether these bytes, which must be some, are among its own.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var from = 0
    while count - from >= bytes.count,
      let found = UnsafeRawBufferPointer(rebasing: self[from...]).offset(of: bytes[0])
    {
      from += found + 1
      let end = from - 1 + bytes.count
      if end <= count, UnsafeRawBufferPointer(rebasing: self[(from - 1)..<end]).isEqual(to: bytes) {
        return true
      }
    }
    return false
  }

  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0 else { return true }
    return memcmp(baseAddress!, other.baseAddress!, count) == 0
  }
}
