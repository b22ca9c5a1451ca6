internal import Glibc

/// The bytes last seen in one place, kept so that a repeated value costs one memcmp.
struct RememberedBytes {
  private var bytes: [UInt8] = []
  private var isSet = false

  func matches(_ other: UnsafeRawBufferPointer) -> Bool {
    guard isSet, bytes.count == other.count else { return false }
    guard !bytes.isEmpty else { return true }
    return bytes.withUnsafeBytes { memcmp($0.baseAddress!, other.baseAddress!, other.count) == 0 }
  }

  mutating func remember(_ other: UnsafeRawBufferPointer) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: other)
    isSet = true
  }

  mutating func forget() { isSet = false }
}
