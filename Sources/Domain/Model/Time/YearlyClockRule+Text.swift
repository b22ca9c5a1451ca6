extension YearlyClockRule {
  /// From `CET-1CEST,M3.5.0,M10.5.0/3`; nil for what POSIX and RFC 9636, 3.3.1, do not allow.
  init?(_ text: String) {
    var rest = Substring(text)
    guard Self.takeName(&rest), let west = Self.takeTime(&rest, hoursMax: 24) else { return nil }
    standardOffset = -west
    guard !rest.isEmpty else {
      summer = nil
      return
    }
    guard Self.takeName(&rest) else { return nil }
    var offset = standardOffset + 3_600
    if rest.first != "," {
      guard let west = Self.takeTime(&rest, hoursMax: 24) else { return nil }
      offset = -west
    }
    guard let begin = Self.takeMoment(&rest), let end = Self.takeMoment(&rest), rest.isEmpty else {
      return nil
    }
    summer = Summer(offset: offset, begin: begin, end: end)
  }

  /// Takes `CET` or `<+03>`.
  private static func takeName(_ rest: inout Substring) -> Bool {
    if rest.first == "<" {
      guard let end = rest.firstIndex(of: ">") else { return false }
      rest = rest[rest.index(after: end)...]
      return true
    }
    let letters = rest.prefix { $0.isASCII && $0.isLetter }
    rest = rest[letters.endIndex...]
    return letters.count >= 3
  }

  /// Takes `-1`, `+5:30` or `2:00:00`; in seconds.
  private static func takeTime(_ rest: inout Substring, hoursMax: Int) -> Int? {
    var sign = 1
    if let first = rest.first, first == "-" || first == "+" {
      sign = first == "-" ? -1 : 1
      rest.removeFirst()
    }
    guard let hours = takeNumber(&rest), hours <= hoursMax else { return nil }
    var seconds = hours * 3_600
    for unit in [60, 1] {
      guard rest.first == ":" else { break }
      rest.removeFirst()
      guard let number = takeNumber(&rest), number < 60 else { return nil }
      seconds += number * unit
    }
    return sign * seconds
  }

  private static func takeNumber(_ rest: inout Substring) -> Int? {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest[digits.endIndex...]
    return DecimalDigits.number(Array(digits.utf8))
  }

  /// Takes `,M3.5.0/2`.
  private static func takeMoment(_ rest: inout Substring) -> Moment? {
    guard rest.popFirst() == ",", let day = takeDay(&rest) else { return nil }
    guard rest.first == "/" else { return Moment(day: day, seconds: 7_200) }
    rest.removeFirst()
    // A week in either direction, which RFC 9636 adds to POSIX.
    return takeTime(&rest, hoursMax: 167).map { Moment(day: day, seconds: $0) }
  }

  private static func takeDay(_ rest: inout Substring) -> Day? {
    switch rest.first {
    case "M":
      rest.removeFirst()
      guard let month = takeNumber(&rest), (1...12).contains(month), rest.popFirst() == ".",
        let week = takeNumber(&rest), (1...5).contains(week), rest.popFirst() == ".",
        let weekday = takeNumber(&rest), (0...6).contains(weekday)
      else { return nil }
      return .weekday(month: month, week: week, weekday: weekday)
    case "J":
      rest.removeFirst()
      guard let day = takeNumber(&rest), (1...365).contains(day) else { return nil }
      return .ofCommonYear(day)
    default:
      guard let day = takeNumber(&rest), day <= 365 else { return nil }
      return .ofYear(day)
    }
  }
}
