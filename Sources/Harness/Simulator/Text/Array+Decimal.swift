extension [UInt8] {
  /// Appends a number that is not negative, in decimal, without building a string.
  mutating func appendDecimal(_ number: Int64) {
    let start = count
    var rest = number
    repeat {
      append(UInt8(truncatingIfNeeded: 0x30 + rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }
}
