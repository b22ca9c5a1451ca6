import Model
import Testing

/// Jobs that tell an app of a change, in place of a notification.
@Suite("Push-to-app events")
struct AppEventTests {
  private static let least =
    #""bucket_id":"orders","bucket_type":"rw","type":"DATA_OBJECT_UPDATED","#
    + #""object_scope_app_id":"a1","object_scope_type":"APP""#

  /// A job whose event has the fields, and which has others beside it.
  private static func text(event: String = least, _ more: String = "") -> String {
    #"{"app":"shop","audience":{"users":["u1"]},"kind":"push_to_app","event":{\#(event)}\#(more)}"#
  }

  private static func complaint(_ text: String) -> String {
    JobRefusalTests.complaint(text)
  }

  @Test("an event with every field is read")
  func everyField() throws {
    let job = try Job(
      text: #"""
        {"id": "e1", "app": "shop", "audience": {"users": ["u1", "u2"]}, "kind": "push_to_app",
         "event": {"bucket_id": "orders", "bucket_type": "sync", "type": "DATA_OBJECT_CREATED",
           "object_id": "o1", "object_scope_app_id": "a1", "object_scope_type": "APP_AND_USER",
           "object_scope_user_id": "u7", "sender": "u8", "when": "2026-11-22T10:00:00.250Z"},
         "apns": {"topic": "com.example.other"}, "collapse_id": "orders", "ttl_seconds": 60,
         "environments": ["production"], "filter": {"channel": ["beta"]}, "dry_run": true,
         "on_unknown": "give_up", "trace": true}
        """#)
    #expect(job.content.filter != nil)
    #expect(try JobContent(bytes: job.content.canonicalBytes()) == job.content)
    #expect(
      job.content.event
        == AppEvent(
          bucketID: "orders", bucketType: .sync, type: "DATA_OBJECT_CREATED", objectID: "o1",
          scopeApp: "a1", scope: .user("u7"), sender: "u8", whenMs: 1_795_341_600_250))
    #expect(job.content.notification == nil)
    #expect(job.content.apns == APNsPart(topic: "com.example.other"))
    #expect(job.content.collapseID == "orders" && job.content.expiry == .ttl(seconds: 60))
  }

  @Test("of an event only the object, the sender and the time may be left out")
  func leastFields() throws {
    let event = try Job(text: Self.text()).content.event
    #expect(
      event
        == AppEvent(
          bucketID: "orders", bucketType: .readWrite, type: "DATA_OBJECT_UPDATED", scopeApp: "a1"))
  }

  @Test(
    "each scope names who it is about",
    arguments: [
      ("APP_AND_USER", "user", AppEventScope.user("x")),
      ("APP_AND_GROUP", "group", .group("x")), ("APP_AND_THING", "thing", .thing("x")),
    ])
  func scopes(type: String, owner: String, scope: AppEventScope) throws {
    let event = Self.least.replacing("\"APP\"", with: "\"\(type)\"")
    let named = event + ",\"object_scope_\(owner)_id\":\"x\""
    #expect(try Job(text: Self.text(event: named)).content.event?.scope == scope)
    #expect(
      Self.complaint(Self.text(event: event))
        == "/event/object_scope_\(owner)_id: is missing: name whom the bucket belongs to, since "
        + "object_scope_type is \(type)")
    #expect(
      Self.complaint(Self.text(event: Self.least + ",\"object_scope_\(owner)_id\":\"x\""))
        == "/event/object_scope_\(owner)_id: must be left out, since object_scope_type is APP: it is "
        + "for \(type)")
  }

  @Test("an event survives the way through Redis, and says no time that its producer did not say")
  func roundTrip() throws {
    for more in ["", #","object_id":"é","sender":"s""#, #","when":1790000000000"#] {
      let job = try Job(text: Self.text(event: Self.least + more))
      let bytes = job.content.canonicalBytes()
      #expect(try JobContent(bytes: bytes) == job.content)
      #expect(try JobContent(bytes: bytes).canonicalBytes() == bytes)
      #expect(try Job(json: job.json()) == job)
      #expect(String(decoding: bytes, as: UTF8.self).contains("when") == more.contains("when"))
    }
  }

  @Test("two events that differ in one field are two jobs")
  func identity() throws {
    let one = try Job(text: Self.text()).canonicalBytes()
    let other = Self.least.replacing("orders", with: "carts")
    #expect(try Job(text: Self.text(event: other)).canonicalBytes() != one)
    #expect(
      try Job(text: Self.text(event: Self.least + #","when":1790000000000"#)).canonicalBytes()
        != one)
  }

  @Test(
    "a bad event is refused with its pointer and its rule",
    arguments: [
      (least.replacing("bucket_id", with: "sender"), "/event/bucket_id: is missing: name the"),
      (least.replacing("bucket_type", with: "sender"), "/event/bucket_type: is missing: give one"),
      (least.replacing("\"type\"", with: "\"sender\""), "/event/type: is missing: name what"),
      (
        least.replacing("object_scope_app_id", with: "sender"),
        "/event/object_scope_app_id: is missing: name the app as its backend calls it"
      ),
      (
        least.replacing("object_scope_type", with: "sender"),
        "/event/object_scope_type: is missing: give one of APP, APP_AND_USER, APP_AND_GROUP, "
          + "APP_AND_THING"
      ),
      (least.replacing("\"rw\"", with: "\"ro\""), "/event/bucket_type: must be one of rw, sync"),
      (
        least.replacing("\"APP\"", with: "\"APP_AND_USERS\""),
        "did you mean \"APP_AND_USER\"?"
      ),
      (least.replacing("\"orders\"", with: "\"\""), "/event/bucket_id: must not be empty"),
      (
        least.replacing("orders", with: String(repeating: "b", count: 257)),
        "/event/bucket_id: must be at most 256 bytes of UTF-8, is 257"
      ),
      (least.replacing("orders", with: "a\\nb"), "/event/bucket_id: must not hold control"),
      (least + #","object_id":7"#, "/event/object_id: must be a string, is a number"),
      (least + #","object_id":null"#, "/event/object_id: must be a string, is null: leave"),
      (
        least + #","objectID":"o""#,
        "/event/objectID: is not a known field; did you mean \"object_id\""
      ),
      (least + #","when":1790000000"#, "/event/when: is in the year 1973 or before"),
      (least + #","when":"now""#, "/event/when: must be epoch milliseconds or an RFC 3339"),
      (least + #","when":true"#, "/event/when: must be epoch milliseconds or an RFC 3339 string"),
    ])
  func refused(event: String, expected: String) {
    let complaint = Self.complaint(Self.text(event: event))
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("kind and event stand together, and no other kind is known")
  func kind() {
    func complaint(_ fields: String) -> String { JobRefusalTests.complaint(fields: fields) }
    #expect(
      complaint(#""event":{}"#)
        == "/event: needs a kind beside it: add \"kind\": \"push_to_app\", or leave it out")
    #expect(
      complaint(#""kind":"push_to_app""#)
        == "/event: is missing: a job of kind push_to_app says what has changed")
    #expect(
      complaint(#""kind":"push_to_app","event":[]"#) == "/event: must be an object, is an array")
    #expect(
      complaint(#""kind":"direct","notification":{"body":"B"}"#)
        == "/kind: must be push_to_app, or left out of a job with a notification, is \"direct\"")
    #expect(complaint(#""kind":1,"event":{}"#) == "/kind: must be a string, is a number")
  }

  @Test(
    "what people would see cannot be put on an event, wherever it stands",
    arguments: [
      (#","notification":{"body":"B"}"#, "/notification"), (#","alert":"A""#, "/alert"),
      (#","sound":"default""#, "/sound"), (#","badge":1"#, "/badge"), (#","title":"T""#, "/title"),
      (#","category":"c""#, "/category"), (#","body":"B""#, "/body"),
      (#","fcm":{"message":{}}"#, "/fcm"), (#","jpush":{}"#, "/jpush"),
      (#","localized":{"ja":{"title":"T"}}"#, "/localized"),
      (#","variables":{"u1":{"a":"b"}}"#, "/variables"),
      (#","variables_key":"k""#, "/variables_key"),
      (#","apns":{"payload":{"aps":{"alert":"A"}}}"#, "/apns/payload"),
      (#","apns":{"topic":"a.b","push_type":"alert"}"#, "/apns/push_type"),
      (#","apns":{"priority":10}"#, "/apns/priority"),
    ])
  func customised(more: String, pointer: String) {
    let complaint = Self.complaint(Self.text(more))
    #expect(
      complaint.hasPrefix(
        "\(pointer): must be left out of a push_to_app job, which shows nothing and cannot be customised"
      ), "\(complaint)")
  }

  @Test(
    "what people would see cannot be put into an event either",
    arguments: ["alert", "sound", "badge", "category", "title", "body", "notification", "aps"])
  func customisedInside(name: String) {
    let complaint = Self.complaint(Self.text(event: Self.least + ",\"\(name)\":\"x\""))
    #expect(complaint.hasPrefix("/event/\(name): must be left out of a push_to_app job"))
  }

  @Test("names that an event is told by are not free for custom data")
  func reservedNames() {
    #expect(AppEventField.allCases.count == 11)
    for field in AppEventField.allCases {
      for name in [field.shortName, field.longName] {
        let complaint = JobRefusalTests.complaint(
          fields: #""notification":{"data":{"\#(name)":"x"}}"#)
        #expect(complaint.contains("reserved for topic messages and push-to-app events"))
      }
    }
  }
}
