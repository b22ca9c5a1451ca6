/// A day of the proleptic Gregorian calendar, in no time zone.
package struct CivilDate: Sendable, Equatable {
  package let year: Int
  package let month: Int
  package let day: Int

  /// Nil when there is no such day.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day) else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The day that is so many days after 1970-01-01.
  package init(daysSinceEpoch days: Int) {
    // Years that begin in March, so that a leap day is a year's last.
    let shifted = days + Self.daysFromMarchOfYear0
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// From `2026-12-01`; nil for any other text, and for a day that does not exist.
  package init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(11))
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = DecimalDigits.number(bytes[0..<4]), let month = DecimalDigits.number(bytes[5..<7]),
      let day = DecimalDigits.number(bytes[8..<10])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// The date as RFC 3339 writes it.
  package var text: String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }

  /// How many days it is after 1970-01-01; negative before.
  package var daysSinceEpoch: Int {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - Self.daysFromMarchOfYear0
  }

  /// 0 is Sunday.
  package var weekday: Int {
    let days = (daysSinceEpoch + 4) % 7
    return days >= 0 ? days : days + 7
  }

  package static func isLeap(_ year: Int) -> Bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
  }

  package static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: isLeap(year) ? 29 : 28
    default: 31
    }
  }

  /// From 0000-03-01 to 1970-01-01.
  private static let daysFromMarchOfYear0 = 719_468
}
