import Testing

@testable import Model

@Suite struct FixedOffsetTests {
  @Test(
    "forms that phones and servers send are read, with + east of Greenwich",
    arguments: [
      ("GMT+09:00", 540), ("GMT+0900", 540), ("GMT+9", 540), ("GMT+9:00", 540), ("GMT+900", 540),
      ("UTC+9", 540), ("UTC+09:00", 540), ("utc+09", 540), ("UT+9", 540), ("+09:00", 540),
      ("+0900", 540), ("+9", 540), ("GMT-03:30", -210), ("GMT-0330", -210), ("UTC-5", -300),
      ("-05", -300), ("GMT+05:45", 345), ("UTC+00:00", 0), ("-0", 0), ("Z", 0), ("z", 0),
      ("UTC", 0), ("GMT", 0), ("UT", 0), ("GMT+14:00", 840), ("UTC-12", -720),
    ])
  func reads(text: String, minutes: Int) {
    #expect(FixedOffset(text.utf8)?.minutes == minutes)
  }

  @Test(
    "what is none of them is nothing",
    arguments: [
      "", "+", "GMT+", "GMT+:", "GMT+9:", "GMT+9:0", "GMT+09:60", "GMT+24", "GMT+14:15",
      "GMT-12:15",
      "GMT+09:01", "GMT+09:00:00", "GMT9", "GMT 9", "GMT++9", "UTC+-9", "Etc/GMT-9", "EST",
      "EST5EDT",
      "JST-9", "Asia/Tokyo", "+09000", "Zulu", "GMT+a", "GMTZ", "\u{2212}9",
      "UTC+999999999999999999",
    ])
  func refuses(text: String) {
    #expect(FixedOffset(text.utf8) == nil)
  }

  @Test("each has one name, which is read as itself")
  func names() {
    #expect(FixedOffset.all.count == 105)
    for offset in FixedOffset.all {
      #expect(FixedOffset(offset.name.utf8) == offset)
      #expect(offset.rules.offset(atSeconds: 1_790_000_000) == offset.minutes * 60)
    }
    #expect(Set(FixedOffset.all.map(\.name)).count == 105)
  }
}
