import Testing

@testable import Typesetting

@Suite struct InstantTextTests {
  @Test("instants are RFC 3339 in UTC")
  func instant() {
    #expect(InstantText.rfc3339(ms: 1_790_000_000_007) == "2026-09-21T14:13:20.007Z")
    #expect(InstantText.rfc3339(ms: 0, withMilliseconds: false) == "1970-01-01T00:00:00Z")
  }

  @Test(
    "instants for people are by their own clock, with UTC beside it, and its date where that is another",
    arguments: [
      (3_600, "CET", "2026-11-29 18:30:05 CET (17:30:05Z)"),
      (-12_600, "NST", "2026-11-29 14:00:05 NST (17:30:05Z)"),
      (20_700, "+0545", "2026-11-29 23:15:05 +0545 (17:30:05Z)"),
      (32_400, "JST", "2026-11-30 02:30:05 JST (2026-11-29T17:30:05Z)"),
      (0, "UTC", "2026-11-29T17:30:05Z"), (0, "GMT", "2026-11-29T17:30:05Z"),
    ])
  func local(offsetSeconds: Int, zone: String, text: String) {
    let ms: Int64 = 1_795_973_405_250
    #expect(InstantText.local(ms: ms, offsetSeconds: offsetSeconds, zone: zone) == text)
    let exact = InstantText.local(
      ms: ms, offsetSeconds: offsetSeconds, zone: zone, withMilliseconds: true)
    #expect(exact == text.replacing(":05", with: ":05.250"))
  }

  @Test(
    "an instant that no clock shows is none that ends the process", arguments: [Int64.min, .max])
  func far(ms: Int64) {
    #expect(!InstantText.local(ms: ms).isEmpty)
    #expect(!InstantText.local(ms: ms, offsetSeconds: 3_600, zone: "CET").isEmpty)
  }
}
