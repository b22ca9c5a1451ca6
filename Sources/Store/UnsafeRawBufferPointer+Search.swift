internal import Glibc

extension UnsafeRawBufferPointer {
  /// The offset of the first such byte; nil when there is none. The standard library's search goes byte by
  /// byte, and lines are parsed for every push.
  func offset(of byte: UInt8) -> Int? {
    guard let baseAddress, let found = memchr(baseAddress, CInt(byte), count) else { return nil }
    return UnsafeRawPointer(found) - baseAddress
  }

  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0 else { return true }
    return memcmp(baseAddress!, other.baseAddress!, count) == 0
  }
}
