import Model
import Testing

@testable import Providers

/// What each network carries of an event, byte by byte.
@Suite("Push-to-app events on the networks")
struct AppEventRenderingTests {
  private static let least =
    #""bucket_id":"orders","bucket_type":"rw","type":"DATA_OBJECT_UPDATED","#
    + #""object_scope_app_id":"a1","object_scope_type":"APP""#
  private static let full =
    #""when":1795000000123,"sender":"u8","object_scope_user_id":"u7","#
    + #""object_scope_type":"APP_AND_USER","object_scope_app_id":"a1","object_id":"o1","#
    + #""type":"DATA_OBJECT_CREATED","bucket_type":"sync","bucket_id":"orders""#
  private static let longNames =
    #"{"bucketID":"orders","bucketType":"sync","type":"DATA_OBJECT_CREATED","objectID":"o1","#
    + #""objectScopeAppID":"a1","objectScopeType":"APP_AND_USER","objectScopeUserID":"u7","#
    + #""sender":"u8","when":"1795000000123"}"#

  private static func content(_ event: String = full, _ more: String = "") -> String {
    #"{"kind":"push_to_app","event":{\#(event)}\#(more)}"#
  }

  @Test("on APNs an event has the short names, and is silent")
  func apns() throws {
    let push = try TestProvider.apns().render(Self.content())
    #expect(
      push.text(token: "")
        == #"{"bi":"orders","bt":"sync","t":"DATA_OBJECT_CREATED","oi":"o1","sa":"a1","#
        + #""st":"APP_AND_USER","su":"u7","s":"u8","w":1795000000123,"#
        + #""aps":{"content-available":1}}"#)
    #expect(
      push.headers == [
        RenderedPush.Header("apns-topic", "com.example.shop"),
        RenderedPush.Header("apns-push-type", "background"),
        RenderedPush.Header("apns-priority", "5"),
      ])
  }

  @Test("on FCM an event is data under the long names, all strings, that may wait for the device")
  func fcm() throws {
    let push = try TestProvider.fcm().render(Self.content())
    #expect(
      push.text(token: "T")
        == #"{"message":{"token":"T","data":\#(Self.longNames),"android":{"priority":"NORMAL"}}}"#)
  }

  @Test("on JPush an event is a custom message under the long names, and wakes the app on iOS")
  func jpush() throws {
    let push = try TestProvider.jpush().render(Self.content())
    #expect(
      push.text(tokens: ["ID"], id: "uuid")
        == #"{"cid":"7d43-uuid","audience":{"registration_id":["ID"]},"platform":"all","#
        + #""notification":{"ios":{"alert":"","content-available":true,"extras":\#(Self.longNames)}},"#
        + #""message":{"msg_content":"data","extras":\#(Self.longNames)},"#
        + #""options":{"apns_production":true}}"#)
  }

  @Test(
    "what an event leaves out is left out, and it happened when its job was created, whenever it is sent"
  )
  func least() throws {
    for nowMs: Int64 in [1_790_000_000_000, 1_790_000_500_000] {
      let apns = try TestProvider.apns().render(Self.content(Self.least), nowMs: nowMs)
      #expect(
        apns.text(token: "")
          == #"{"bi":"orders","bt":"rw","t":"DATA_OBJECT_UPDATED","sa":"a1","st":"APP","#
          + #""w":1790000000000,"aps":{"content-available":1}}"#)
      let fcm = try TestProvider.fcm().render(Self.content(Self.least), nowMs: nowMs)
      #expect(
        try fcm.json().objectValue?["message"]?.objectValue?["data"]
          == JSONParser().parse(
            """
            {"bucketID": "orders", "bucketType": "rw", "type": "DATA_OBJECT_UPDATED",
             "objectScopeAppID": "a1", "objectScopeType": "APP", "when": "1790000000000"}
            """))
      let jpush = try TestProvider.jpush().render(Self.content(Self.least), nowMs: nowMs)
      #expect(
        try jpush.json().objectValue?["message"]?.objectValue?["extras"]?.objectValue?["when"]
          == .string("1790000000000"))
    }
  }

  @Test(
    "groups and things have names of their own",
    arguments: [
      ("GROUP", "group", "sg", "objectScopeGroupID"),
      ("THING", "thing", "sth", "objectScopeThingID"),
    ])
  func owners(type: String, owner: String, short: String, long: String) throws {
    let event =
      Self.least.replacing("\"APP\"", with: "\"APP_AND_\(type)\"")
      + ",\"object_scope_\(owner)_id\":\"x\""
    let apns = try TestProvider.apns().render(Self.content(event)).json().objectValue
    #expect(apns?[short] == .string("x") && apns?["st"] == .string("APP_AND_\(type)"))
    let fcm = try TestProvider.fcm().render(Self.content(event)).json().objectValue
    #expect(fcm?["message"]?.objectValue?["data"]?.objectValue?[long] == .string("x"))
  }

  @Test("an event keeps to the job's topic, collapse id and expiry")
  func headers() throws {
    let json = Self.content(
      Self.full, #","apns":{"topic":"com.example.other"},"collapse_id":"orders","ttl_seconds":60"#)
    let apns = try TestProvider.apns().render(json)
    #expect(apns["apns-topic"] == "com.example.other" && apns["apns-collapse-id"] == "orders")
    #expect(apns["apns-expiration"] == "1790000060" && apns["apns-push-type"] == "background")
    let android = try TestProvider.fcm().render(json).json()
      .objectValue?["message"]?.objectValue?["android"]
    #expect(
      try android
        == JSONParser().parse(#"{"priority":"NORMAL","ttl":"60s","collapse_key":"orders"}"#))
  }

  @Test("an event over a network's limit is refused, and the field is the event")
  func tooLarge() throws {
    // Each quote takes two bytes: four texts of 256 of them pass JPush's 2,000.
    let long = String(repeating: "\\\"", count: 256)
    let event = Self.full.replacing("u8", with: long).replacing("u7", with: long)
      .replacing("o1", with: long).replacing("\"orders\"", with: "\"\(long)\"")
    let complaint = #expect(throws: InvalidField.self) {
      try TestProvider.jpush().render(Self.content(event))
    }
    #expect(complaint?.pointer == "/event")
  }
}
