import Testing

@testable import Model

@Suite struct TimeZoneRulesTests {
  /// A zone that goes by the text at the end of its file alone.
  private static func zone(_ text: String) throws -> TimeZoneRules {
    let yearly: YearlyClockRule = try #require(YearlyClockRule(text))
    return TimeZoneRules(firstOffset: 0, changes: [], yearly: yearly)
  }

  /// Of `2026-03-08T07:30Z` and the like.
  private static func seconds(_ text: String) throws -> Int {
    Int(try #require(RFC3339.milliseconds(text.dropLast() + ":00Z")) / 1_000)
  }

  @Test(
    "clocks show a time at one instant: the first of two, and behind a gap what was meant before it",
    arguments: [
      // Clocks skip 02:00 to 03:00.
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08", 1, 59, "2026-03-08T06:59Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08", 2, 30, "2026-03-08T07:30Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08", 3, 30, "2026-03-08T07:30Z"),
      // 01:00 to 02:00 comes twice.
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01", 0, 59, "2026-11-01T04:59Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01", 1, 30, "2026-11-01T05:30Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01", 2, 0, "2026-11-01T07:00Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-07-01", 9, 0, "2026-07-01T13:00Z"),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-12-31", 23, 59, "2027-01-01T04:59Z"),
      // Europe changes at one instant.
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29", 2, 30, "2026-03-29T01:30Z"),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25", 2, 30, "2026-10-25T00:30Z"),
      // Irish standard time is the summer's.
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01", 9, 0, "2026-07-01T08:00Z"),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01", 9, 0, "2026-01-01T09:00Z"),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25", 1, 30, "2026-10-25T00:30Z"),
      // The south has its summer over the new year, Lord Howe by half an hour.
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01", 0, 0, "2025-12-31T13:00Z"),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-04", 2, 15, "2026-10-03T15:45Z"),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-05", 1, 45, "2026-04-04T14:45Z"),
      ("<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", "2026-06-01", 9, 0, "2026-05-31T20:15Z"),
      ("<+14>-14", "2026-12-01", 9, 0, "2026-11-30T19:00Z"),
      ("SST11", "2026-12-01", 9, 0, "2026-12-01T20:00Z"),
      ("<+0530>-5:30", "2026-12-01", 9, 0, "2026-12-01T03:30Z"),
      // A change on the evening before its day, as in Greenland.
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-28", 22, 30, "2026-03-29T00:30Z"),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-28", 23, 30, "2026-03-29T01:30Z"),
      // By the day of the year: the leap day is not counted in one form, and is in the other.
      ("AAA0BBB,J60/0,J300/0", "2028-03-01", 0, 30, "2028-03-01T00:30Z"),
      ("AAA0BBB,J60/0,J300/0", "2028-03-01", 9, 0, "2028-03-01T08:00Z"),
      ("AAA0BBB,59/0,300/0", "2028-02-29", 9, 0, "2028-02-29T08:00Z"),
    ])
  func instants(rule: String, day: String, hour: Int, minute: Int, instant: String) throws {
    let date = try #require(CivilDate(day))
    let found = try Self.zone(rule).instant(of: date, secondsOfDay: (hour * 60 + minute) * 60)
    #expect(found == (try Self.seconds(instant)))
  }

  @Test("a day that a zone left out is a gap of a day")
  func leavesOutADay() throws {
    // Samoa went from the east of the date line to its west, and had no 30 December 2011.
    let change = try Self.seconds("2011-12-30T10:00Z")
    let samoa = TimeZoneRules(
      firstOffset: -10 * 3_600, changes: [.init(atSeconds: change, offset: 14 * 3_600)],
      yearly: nil)
    let gone = try #require(CivilDate("2011-12-30"))
    #expect(samoa.instant(of: gone, secondsOfDay: 9 * 3_600) == change + 9 * 3_600)
    let next = try #require(CivilDate("2011-12-31"))
    #expect(samoa.instant(of: next, secondsOfDay: 9 * 3_600) == change + 9 * 3_600)
    let before = try #require(CivilDate("2011-12-29"))
    #expect(samoa.instant(of: before, secondsOfDay: 9 * 3_600) == change - 15 * 3_600)
  }

  @Test(
    "a rule that POSIX does not allow is none",
    arguments: [
      "", "CE-1", "CET", "CET-25", "CET-1:60", "CET-1CEST", "CET-1CEST,M3.5.0",
      "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
      "CET-1CEST,J0,J300", "CET-1CEST,366,1", "CET-1CEST,M3.5.0,M10.5.0/168", "<+03-3",
      "CET-1CEST,M3.5.0,M10.5.0 ", "CET-99999999999999999999",
    ])
  func refuses(rule: String) { #expect(YearlyClockRule(rule) == nil) }

  @Test("a file that is cut off anywhere, or holds what it must not, is no zone")
  func boundsFiles() throws {
    var file = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 39)
    // One type in a first block for old readers, then the same with a footer.
    file[39] = 1
    file[43] = 4
    let data: [UInt8] = [0, 0, 0x0e, 0x10, 0, 0] + Array("CET\0".utf8)
    file += data
    file += file[0..<44] + data + Array("\nCET-1\n".utf8)
    let whole = try #require(TimeZoneRules(tzif: file))
    #expect(whole.offset(atSeconds: 0) == 3_600)
    for length in 0..<file.count {
      #expect(TimeZoneRules(tzif: Array(file.prefix(length))) == nil, "\(length) bytes")
    }
    var huge = file
    huge[32] = 0x7f
    #expect(TimeZoneRules(tzif: huge) == nil)
    var far = file
    far[44 + 10 + 44] = 0x7f
    #expect(TimeZoneRules(tzif: far) == nil)
  }

  @Test("days and their numbers agree over 800 years")
  func days() throws {
    var date = try #require(CivilDate("1700-01-01"))
    let first = date.daysSinceEpoch
    for number in first..<first + 800 * 366 {
      let found = CivilDate(daysSinceEpoch: number)
      #expect(found.daysSinceEpoch == number)
      if number > first {
        let isNext =
          found.day == date.day + 1 && found.month == date.month
          || found.day == 1 && date.day == CivilDate.days(inMonth: date.month, of: date.year)
        guard isNext else {
          Issue.record("\(found.text) behind \(date.text)")
          return
        }
      }
      date = found
    }
    #expect(try #require(CivilDate("2026-11-23")).weekday == 1)
    #expect(try #require(CivilDate("1969-12-31")).weekday == 3)
    for text in ["2026-02-29", "2026-13-01", "2026-00-01", "2026-1-01", "2026-01-01T", ""] {
      #expect(CivilDate(text) == nil)
    }
  }
}
