import Testing

@testable import Model

/// PHP writes an empty map as an empty array; so the one counts as the other wherever a map may be empty.
@Suite struct EmptyMapTests {
  private static func content(_ fields: String) throws -> JSONValue {
    try Job(text: #"{"app":"shop","audience":{"users":["u"]},\#(fields)}"#).json()
  }

  @Test(
    arguments: [
      #""notification":{"title":"t","data":[]}"#,
      #""notification":{"title":"{{a}}"},"variables":[]"#,
      #""notification":{"title":"{{a}}"},"variables":{"u":[]}"#,
      #""apns":[],"notification":{"title":"t"}"#, #""apns":{"payload":[]}"#,
      #""apns":{"payload":{"aps":[]}}"#,
      """
      "apns":{"push_type":"liveactivity","payload":{"aps":{"event":"update",
        "timestamp":1790000000,"content-state":[]}}}
      """,
      #""jpush":[]"#,
      #""jpush":{"notification":{"alert":"a","android":{"extras":[]},"ios":[]},"options":[]}"#,
      #""fcm":{"message":[]}"#,
    ])
  func `a job's empty arrays are empty objects`(fields: String) throws {
    let objects = fields.split(separator: "[]", omittingEmptySubsequences: false)
      .joined(separator: "{}")
    #expect(try Self.content(fields) == Self.content(objects))
  }

  @Test func `an installation's custom fields may be an empty array`() throws {
    let installation = try Installation(
      text: #"{"app":"shop","user":"u","network":"fcm","token":"fcm-token:1","custom":[]}"#)
    #expect(installation.custom.isEmpty)
  }

  @Test func `a user's stored values may be an empty array`() {
    #expect(Array("[]".utf8).withUnsafeBytes { Variables.values(in: $0) } == [:])
    #expect(Array("[1]".utf8).withUnsafeBytes { Variables.values(in: $0) } == nil)
  }

  @Test func `an array with something in it is none`() {
    #expect(throws: InvalidField.self) {
      try Self.content(#""notification":{"title":"t","data":["a"]}"#)
    }
  }
}
