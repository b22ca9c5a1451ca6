import Model
import Testing

@Suite struct TokenKindTests {
  private func kind(_ apns: String) throws -> TokenKind {
    try JobTests.job(#""notification":{"body":"B"},"apns":\#(apns)"#).content.apnsTokenKind
  }

  @Test("each push type is for tokens of its own kind")
  func kinds() throws {
    #expect(try JobTests.job(#""notification":{"body":"B"}"#).content.apnsTokenKind == .alert)
    for type in ["alert", "background", "mdm"] {
      #expect(try kind(#"{"push_type":"\#(type)"}"#) == .alert)
    }
    for type in APNsPushType.allCases
    where ![.alert, .background, .mdm, .liveactivity].contains(type) {
      #expect(try kind(#"{"push_type":"\#(type.rawValue)"}"#).rawValue == type.rawValue)
    }
  }

  private static let update = #""timestamp":1790000000,"content-state":{}"#

  @Test("a Live Activity is started by one token and updated by another")
  func liveActivities() throws {
    func kind(_ aps: String) throws -> TokenKind {
      try self.kind(#"{"push_type":"liveactivity","payload":{"aps":{\#(aps)}}}"#)
    }
    #expect(try kind(#""event":"update",\#(Self.update)"#) == .liveActivity)
    #expect(
      try kind(#""event":"end","timestamp":1790000000,"dismissal-date":1790000100"#)
        == .liveActivity)
    #expect(
      try kind(
        #""event":"start",\#(Self.update),"attributes-type":"A","attributes":{},"alert":{"title":"T"}"#
      )
        == .pushToStart)
  }

  @Test(
    "what a device would drop without a word is refused, and what is missing named",
    arguments: [
      ("", "/apns/payload/aps: is missing: a Live Activity needs event, timestamp"),
      (
        #""payload":{"aps":{\#(update)}}"#,
        "/apns/payload/aps/event: is missing: start, update or end"
      ),
      (
        #""payload":{"aps":{"event":"stop",\#(update)}}"#,
        "aps/event: must be one of start, update, end"
      ),
      (#""payload":{"aps":{"event":"end"}}"#, "aps/timestamp: is missing: epoch seconds"),
      (
        #""payload":{"aps":{"event":"end","timestamp":1790000000000}}"#,
        "aps/timestamp: must be epoch seconds, a whole number of 10 digits, is 1790000000000"
      ),
      (
        #""payload":{"aps":{"event":"end","timestamp":1790000000,"stale-date":"soon"}}"#,
        "aps/stale-date: must be epoch seconds"
      ),
      (
        #""payload":{"aps":{"event":"update","timestamp":1790000000}}"#,
        "aps/content-state: is missing: the event update needs it"
      ),
      (
        #""payload":{"aps":{"event":"start",\#(update)}}"#,
        "aps/attributes: is missing: the event start needs it"
      ),
      (
        #""payload":{"aps":{"event":"start",\#(update),"attributes":{}}}"#,
        "aps/attributes-type: is missing: the name of the app's ActivityAttributes"
      ),
      (
        #""payload":{"aps":{"event":"start",\#(update),"attributes":{},"attributes-type":"A"}}"#,
        "aps/alert: is missing: without it the device starts no activity"
      ),
      (
        #""payload":{"aps":{"event":"start",\#(update),"attributes":{},"attributes-type":""}}"#,
        "aps/attributes-type: must not be empty"
      ),
      (
        #""payload":{"aps":{"event":"start",\#(update),"attributes":{},"attributes-type":"A","alert":{}}}"#,
        "aps/alert: must be a text or an object with one, and not empty"
      ),
      (#""payload":{"aps":{"event":"end","timestamp":0}}"#, "aps/timestamp: must be epoch seconds"),
    ])
  func refuses(members: String, expected: String) {
    let more = members.isEmpty ? "" : ",\(members)"
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{"body":"B"},"apns":{"push_type":"liveactivity"\#(more)}"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("an installation has a kind on APNs only, and tells it when it is another than alert")
  func installations() throws {
    func installation(_ more: String) throws -> Installation {
      try Installation(text: #"{"app":"shop","user":"u1",\#(more)}"#)
    }
    let voip = try installation(#""network":"apns","token":"aabbccdd","kind":"voip""#)
    #expect(voip.kind == .voip)
    #expect(try Installation(json: voip.json()) == voip)
    #expect(
      try installation(#""network":"apns","token":"aabbccdd""#).json().objectValue?["kind"] == nil)
    let complaint = #expect(throws: InvalidField.self) {
      try installation(#""network":"fcm","token":"aabbccdd","kind":"voip""#)
    }
    #expect(
      complaint?.description
        == "/kind: must be left out for fcm: only tokens of APNs have kinds")
  }
}
