/// How clocks change each year for all time to come: the TZ string of POSIX at the end of a TZif file.
struct YearlyClockRule: Sendable, Equatable {
  /// A day of each year.
  enum Day: Sendable, Equatable {
    /// 1 to 365, as in a year without a leap day, which is not counted.
    case ofCommonYear(Int)
    /// 0 to 365, with the leap day.
    case ofYear(Int)
    /// Month 1 to 12; week 1 to 5, of which 5 is the last; weekday 0 to 6 from Sunday.
    case weekday(month: Int, week: Int, weekday: Int)
  }

  /// A moment of each year, by the clock that holds before it.
  struct Moment: Sendable, Equatable {
    let day: Day
    /// From midnight; may be negative or beyond a day.
    let seconds: Int
  }

  /// Summer time, however it is called.
  struct Summer: Sendable, Equatable {
    let offset: Int
    let begin: Moment
    let end: Moment
  }

  let standardOffset: Int
  /// Nil where clocks do not change.
  let summer: Summer?

  func offset(atSeconds seconds: Int) -> Int {
    guard summer != nil else { return standardOffset }
    let local = seconds + standardOffset
    let day = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
    let year = CivilDate(daysSinceEpoch: day).year
    let last = (year - 1...year + 1).flatMap(changes).last { $0.atSeconds <= seconds }
    return last?.offset ?? standardOffset
  }

  /// The changes of a year, in order of time.
  func changes(in year: Int) -> [TimeZoneRules.Change] {
    guard let summer else { return [] }
    let begin = TimeZoneRules.Change(
      atSeconds: Self.midnight(summer.begin.day, year) + summer.begin.seconds - standardOffset,
      offset: summer.offset)
    let end = TimeZoneRules.Change(
      atSeconds: Self.midnight(summer.end.day, year) + summer.end.seconds - summer.offset,
      offset: standardOffset)
    return begin.atSeconds <= end.atSeconds ? [begin, end] : [end, begin]
  }

  /// When the day begins, as if clocks showed UTC.
  private static func midnight(_ day: Day, _ year: Int) -> Int {
    let newYear = days(year, 1, 1)
    switch day {
    case .ofYear(let number): return (newYear + number) * 86_400
    case .ofCommonYear(let number):
      let leap = CivilDate.isLeap(year) && number >= 60 ? 1 : 0
      return (newYear + number - 1 + leap) * 86_400
    case .weekday(let month, let week, let weekday):
      let first = days(year, month, 1)
      let before = (weekday - CivilDate(daysSinceEpoch: first).weekday + 7) % 7
      var day = first + before + (week - 1) * 7
      if day >= first + CivilDate.days(inMonth: month, of: year) { day -= 7 }
      return day * 86_400
    }
  }

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    CivilDate(year: year, month: month, day: day)?.daysSinceEpoch ?? 0
  }
}
