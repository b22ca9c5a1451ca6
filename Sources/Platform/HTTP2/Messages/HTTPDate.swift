/// An instant as header fields carry it (RFC 9110, 5.6.7).
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map { Array($0.utf8) }

  /// Seconds since 1970; nil when it is none of the three forms: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  package static func epochSeconds(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard text.count <= 40 else { return nil }
    let words = text.split(whereSeparator: { $0 == 0x20 || $0 == 0x2d }).map { Array($0) }
    if words.count == 6, words[0].last == UInt8(ascii: ","), words[5] == Array("GMT".utf8) {
      return instant(day: words[1], month: words[2], year: words[3], time: words[4])
    }
    guard words.count == 5, words[0].count == 3 else { return nil }
    return instant(day: words[2], month: words[1], year: words[4], time: words[3])
  }

  private static func instant(
    day: [UInt8], month: [UInt8], year: [UInt8], time: [UInt8]
  ) -> Int64? {
    let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard clock.count == 3, let day = number(day, digitsMax: 2), (1...31).contains(day),
      let month = months.firstIndex(of: month), let year = fullYear(year),
      let hour = number(clock[0], digitsMax: 2), hour < 24,
      let minute = number(clock[1], digitsMax: 2), minute < 60,
      // A leap second.
      let second = number(clock[2], digitsMax: 2), second <= 60
    else { return nil }
    return ((daysSince1970(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + second
  }

  /// Two digits are a year of this century, or of the last where that lies far ahead.
  private static func fullYear(_ digits: [UInt8]) -> Int64? {
    guard let year = number(digits, digitsMax: 4), digits.count == 2 || digits.count == 4 else {
      return nil
    }
    guard digits.count == 2 else { return year >= 1970 ? year : nil }
    return year < 70 ? 2_000 + year : 1_900 + year
  }

  private static func number(_ digits: some Collection<UInt8>, digitsMax: Int) -> Int64? {
    guard (1...digitsMax).contains(digits.count) else { return nil }
    var number: Int64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - 0x30)
    }
    return number
  }

  /// Howard Hinnant, "chrono-compatible low-level date algorithms".
  private static func daysSince1970(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let monthFromMarch = Int64((month + 9) % 12)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
