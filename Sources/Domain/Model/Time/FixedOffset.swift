/// A clock that is always as far from UTC, as phones and servers name it: `GMT+09:00` (Java, Android), `GMT+0900` (iOS),
/// `UTC+9`, `+09:00` (ISO 8601) or `Z`.
///
/// The sign is that of ISO 8601: `+` is east of Greenwich. In names of the tz database, such as `Etc/GMT-9`, and in POSIX
/// (`TZ=UTC-9`) it is the other way round; the former are zones of their own and nothing of this.
package struct FixedOffset: Sendable, Equatable {
  /// East of UTC, -720 to 840: what the clocks of some place show (Baker Island, Kiritimati).
  package let minutes: Int

  private static let minutesRange = -12 * 60...14 * 60
  /// No clock of today differs from UTC by less than a quarter of an hour.
  private static let step = 15

  /// All that there are, from west to east.
  package static let all = stride(
    from: minutesRange.lowerBound, through: minutesRange.upperBound, by: step
  )
  .map { FixedOffset(minutes: $0) }

  /// The name as Java writes it: `GMT+09:00`.
  package var name: String {
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let size = abs(minutes)
    return "GMT\(minutes < 0 ? "-" : "+")\(padded(size / 60)):\(padded(size % 60))"
  }

  package var rules: TimeZoneRules {
    TimeZoneRules(firstOffset: minutes * 60, changes: [], yearly: nil)
  }

  private init(minutes: Int) { self.minutes = minutes }

  /// - Parameter text: ASCII. `GMT`, `UTC`, `UT` or nothing, in letters of any case; a sign; one or two digits of hours; and
  ///   two of minutes, with or without a colon. Or one of these names alone, or `Z`.
  package init?(_ text: some Collection<UInt8>) {
    var rest = Array(text.prefix(Limits.timeZoneBytesMax))
    guard rest.count == text.count else { return nil }
    func isName(_ name: StaticString) -> Bool {
      rest.count >= name.utf8CodeUnitCount
        && zip(rest, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
          .allSatisfy { $0 & 0xdf == $1 }
    }
    if rest.count == 1, isName("Z") {
      self.init(minutes: 0)
      return
    }
    if isName("GMT") || isName("UTC") {
      rest.removeFirst(3)
    } else if isName("UT") {
      rest.removeFirst(2)
    }
    guard let sign = rest.first else {
      guard !text.isEmpty else { return nil }
      self.init(minutes: 0)
      return
    }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    guard let size = Self.minutes(rest.dropFirst()) else { return nil }
    let minutes = sign == UInt8(ascii: "-") ? -size : size
    guard Self.minutesRange.contains(minutes), minutes % Self.step == 0 else { return nil }
    self.init(minutes: minutes)
  }

  /// From `9`, `09`, `9:00`, `09:00`, `900` or `0900`.
  private static func minutes(_ text: ArraySlice<UInt8>) -> Int? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    let (hours, minutes): (ArraySlice<UInt8>, ArraySlice<UInt8>)
    switch (parts.count, text.count) {
    case (2, _): (hours, minutes) = (parts[0], parts[1])
    case (1, 1...2): (hours, minutes) = (text, [UInt8(ascii: "0"), UInt8(ascii: "0")])
    case (1, 3...4): (hours, minutes) = (text.dropLast(2), text.suffix(2))
    default: return nil
    }
    guard (1...2).contains(hours.count), minutes.count == 2,
      let hour = DecimalDigits.number(hours), let minute = DecimalDigits.number(minutes),
      minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}
