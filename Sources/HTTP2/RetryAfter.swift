/// The Retry-After header (RFC 9110, 10.2.3).
package enum RetryAfter {
  private static let secondsMax: Int32 = 86_400

  /// Whole seconds, capped at a day; -1 for anything but a plain number.
  package static func seconds(_ digits: UnsafeRawBufferPointer) -> Int32 {
    guard !digits.isEmpty else { return -1 }
    var seconds: Int32 = 0
    for digit in digits {
      guard digit >= 48, digit <= 57 else { return -1 }
      seconds = min(secondsMax, seconds * 10 + Int32(digit - 48))
    }
    return seconds
  }
}
