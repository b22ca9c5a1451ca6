internal import Glibc

/// Writes text into memory whose size the caller has checked.
struct LineWriter {
  private let target: UnsafeMutableRawPointer
  private(set) var length = 0

  init(target: UnsafeMutableRawPointer) {
    self.target = target
  }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    memcpy(target + length, source, bytes.count)
    length += bytes.count
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
  }

  mutating func put(_ text: StaticString) {
    memcpy(target + length, text.utf8Start, text.utf8CodeUnitCount)
    length += text.utf8CodeUnitCount
  }

  /// A number that is not negative, in decimal.
  mutating func put(_ number: Int64) {
    var digits = 1
    var bound = number / 10
    while bound > 0 {
      digits += 1
      bound /= 10
    }
    var rest = number
    for offset in stride(from: digits - 1, through: 0, by: -1) {
      target.storeBytes(
        of: UInt8(truncatingIfNeeded: 0x30 + rest % 10), toByteOffset: length + offset,
        as: UInt8.self)
      rest /= 10
    }
    length += digits
  }

  /// 16 hexadecimal digits.
  mutating func putHex(_ number: UInt64) {
    let digits: StaticString = "0123456789abcdef"
    for offset in 0..<16 {
      let nibble = Int(truncatingIfNeeded: number >> UInt64(60 - 4 * offset) & 15)
      target.storeBytes(
        of: digits.utf8Start[nibble], toByteOffset: length + offset, as: UInt8.self)
    }
    length += 16
  }
}
