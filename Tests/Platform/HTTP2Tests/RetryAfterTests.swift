import Testing

@testable import HTTP2

@Suite("Retry-After")
struct RetryAfterTests {
  @Test(
    "all three forms of a date are the same instant",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ])
  func forms(text: String) {
    #expect(Array(text.utf8).withUnsafeBytes { HTTPDate.epochSeconds($0) } == 784_111_777)
  }

  @Test(
    "what is no date is none",
    arguments: [
      "", "x", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "1994-11-06T08:49:37Z",
    ])
  func noDate(text: String) {
    #expect(Array(text.utf8).withUnsafeBytes { HTTPDate.epochSeconds($0) } == nil)
  }

  @Test("a date counts from the answer's own Date, else from our clock, and is bounded")
  func relative() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let before = "Sun, 06 Nov 1994 08:49:07 GMT"
    #expect(RetryAfter(value: date, date: before).seconds(nowMs: 0) == 30)
    #expect(RetryAfter(value: date, date: nil).seconds(nowMs: 784_111_700_000) == 77)
    #expect(RetryAfter(value: date, date: date).seconds(nowMs: 0) == 0)
    #expect(RetryAfter(value: before, date: date).seconds(nowMs: 0) == 0)
    #expect(RetryAfter(value: date, date: nil).seconds(nowMs: 0) == RetryAfter.secondsMax)
    #expect(RetryAfter(value: "7", date: date).seconds(nowMs: 0) == 7)
    #expect(RetryAfter(value: "soon", date: date).seconds(nowMs: 0) == nil)
    #expect(RetryAfter(value: nil, date: date).seconds(nowMs: 0) == nil)
  }

  @Test(
    "whatever a server puts there is a wait with bounds, or none",
    arguments: [
      ("0", 0), ("120", 120), ("1.5", 2), ("0.2", 1), ("3.0", 3),
      ("86400.5", RetryAfter.secondsMax),
      ("99999999999999999999999", RetryAfter.secondsMax),
      ("99999999999999999999999.99999999999999999999999", RetryAfter.secondsMax),
      ("Fri, 01 Jan 2999 00:00:00 GMT", RetryAfter.secondsMax),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("-5", nil), ("-1.5", nil), ("+5", nil), (".5", nil),
      ("1.", nil), ("1.2.3", nil), ("1e9", nil), ("0x10", nil), ("2 s", nil), ("", nil),
    ] as [(String, Int?)])
  func oddities(value: String, seconds: Int?) {
    let nowMs: Int64 = 1_790_000_000_000
    #expect(RetryAfter(value: value, date: nil).seconds(nowMs: nowMs) == seconds)
  }
}
