import Testing
import Typesetting

@Suite struct InstantTextTests {
  @Test("instants are RFC 3339 in UTC")
  func instant() {
    #expect(InstantText.rfc3339(ms: 1_790_000_000_007) == "2026-09-21T14:13:20.007Z")
    #expect(InstantText.rfc3339(ms: 0, withMilliseconds: false) == "1970-01-01T00:00:00Z")
  }
}
