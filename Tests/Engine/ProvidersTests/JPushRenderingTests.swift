import Model
import Testing

@testable import Providers

@Suite("Pushes for JPush")
struct JPushRenderingTests {
  @Test("the common notification fills android, ios and options, around the registration ID")
  func full() throws {
    let push = try TestProvider.jpush().render(
      """
      {"notification": {"title": "Sale", "body": "Now", "badge": 3, "sound": "chime",
        "image": "https://e.example/i.png", "category": "c", "thread_id": "t",
        "data": {"order": "17"}},
       "collapse_id": "spring", "ttl_seconds": 3600}
      """, createdAtMs: 1_000_000, nowMs: 1_600_000)
    let text = push.text(tokens: ["ID"], id: "uuid")
    #expect(text.hasPrefix(#"{"cid":"7d43-uuid","audience":{"registration_id":["ID"]},"#))
    #expect(
      try push.json(token: "ID")
        == JSONParser().parse(
          """
          {"cid": "7d43-id", "audience": {"registration_id": ["ID"]}, "platform": "all",
           "notification": {"alert": "Now",
            "android": {"alert": "Now", "title": "Sale", "sound": "chime", "badge_set_num": 3,
             "style": 3, "big_pic_path": "https://e.example/i.png", "extras": {"order": "17"}},
            "ios": {"alert": {"title": "Sale", "body": "Now"}, "sound": "chime", "badge": 3,
             "category": "c", "thread-id": "t", "mutable-content": true,
             "extras": {"order": "17", "image": "https://e.example/i.png"}}},
           "options": {"apns_production": true, "time_to_live": 3000,
            "apns_collapse_id": "spring"}}
          """))
    #expect(push.path == .fixed(Array("/v3/push".utf8)))
    #expect(push.headers == [RenderedPush.Header("content-type", "application/json")])
    #expect(push.dryRun == .off)
  }

  @Test("a request takes 1,000 registration IDs of the same content")
  func many() throws {
    let push = try TestProvider.jpush().render(#"{"notification":{"body":"b"}}"#)
    #expect(try TestProvider.jpush().pushesPerRequest == 1_000)
    let audience = try push.json(tokens: ["one", "two"]).objectValue?["audience"]
    #expect(
      audience == .object(["registration_id": .array([.string("one"), .string("two")])]))
  }

  @Test("each environment of APNs is asked for by its name", arguments: PushEnvironment.allCases)
  func environment(environment: PushEnvironment) throws {
    let push = try TestProvider.jpush(environment: environment).render(
      #"{"notification":{"body":"b"}}"#)
    let options = try push.json().objectValue?["options"]?.objectValue
    #expect(options?["apns_production"] == .bool(environment == .production))
  }

  @Test("a title alone is what Android shows, and the usual sound needs no name there")
  func titleOnly() throws {
    let push = try TestProvider.jpush().render(
      #"{"notification":{"title":"t","sound":"default","badge":1000}}"#)
    #expect(
      try push.json().objectValue?["notification"]
        == JSONParser().parse(
          """
          {"alert": "t", "android": {"alert": "t", "badge_set_num": 99},
           "ios": {"alert": {"title": "t"}, "sound": "default", "badge": 99}}
          """))
  }

  @Test("what shows nothing is a message for the app, and wakes it on iOS")
  func silent() throws {
    let push = try TestProvider.jpush().render(
      #"{"notification":{"content_available":true,"data":{"k":"v"}}}"#)
    let request = try push.json().objectValue
    #expect(
      try request?["message"]
        == JSONParser().parse(#"{"msg_content":"data","extras":{"k":"v"}}"#))
    #expect(
      try request?["notification"]
        == JSONParser().parse(
          #"{"ios":{"alert":"","content-available":true,"extras":{"k":"v"}}}"#))
  }

  @Test("a badge alone changes the badge and wakes nothing")
  func badgeOnly() throws {
    let push = try TestProvider.jpush().render(#"{"notification":{"badge":0}}"#)
    #expect(
      try push.json().objectValue?["notification"]
        == JSONParser().parse(#"{"ios":{"alert":"","badge":0}}"#))
  }

  @Test("the jpush part is laid over the common part, member by member")
  func merge() throws {
    let push = try TestProvider.jpush().render(
      """
      {"notification": {"body": "b", "data": {"k": "v"}}, "ttl_seconds": 60,
       "jpush": {"notification": {"android": {"channel_id": "news", "extras": {"m": 1}},
          "hmos": {"alert": "b", "category": "MARKETING"}},
         "options": {"time_to_live": 7, "third_party_channel": {"xiaomi": {"channel_id": "x"}}},
         "sms_message": {"temp_id": 1, "delay_time": 0}}}
      """)
    #expect(
      try push.json(token: "ID")
        == JSONParser().parse(
          """
          {"cid": "7d43-id", "audience": {"registration_id": ["ID"]}, "platform": "all",
           "notification": {"alert": "b",
            "android": {"alert": "b", "channel_id": "news", "extras": {"k": "v", "m": 1}},
            "ios": {"alert": "b", "extras": {"k": "v"}},
            "hmos": {"alert": "b", "category": "MARKETING"}},
           "options": {"apns_production": true, "time_to_live": 7,
            "third_party_channel": {"xiaomi": {"channel_id": "x"}}},
           "sms_message": {"temp_id": 1, "delay_time": 0}}
          """))
  }

  @Test("a dry run is a request that JPush only validates")
  func dryRun() throws {
    let push = try TestProvider.jpush().render(#"{"notification":{"title":"t"},"dry_run":true}"#)
    #expect(push.dryRun == .validateOnly)
    #expect(push.path == .fixed(Array("/v3/push/validate".utf8)))
  }

  @Test(
    "the time to live is what is left, from 0 to ten days",
    arguments: [
      (#""ttl_seconds":60"#, Int64(10_500), 49), (#""ttl_seconds":60"#, 60_000, 0),
      (#""ttl_seconds":60"#, 99_000, 0), (#""ttl_seconds":0"#, 0, 0),
      (#""expires_at":1790000000000"#, 0, 864_000),
    ])
  func timeToLive(expiry: String, nowMs: Int64, expected: Int) throws {
    let push = try TestProvider.jpush().render(
      #"{"notification":{"title":"t"},\#(expiry)}"#, createdAtMs: 0, nowMs: nowMs)
    let options = try push.json().objectValue?["options"]?.objectValue
    #expect(options?["time_to_live"] == .integer(expected))
  }

  @Test("the notification for iOS may have 2,000 bytes; one more is refused with the size")
  func iosLimit() throws {
    let provider = try TestProvider.jpush()
    let fits = String(repeating: "x", count: 2_000 - #""ios":{"alert":""}"#.utf8.count)
    _ = try provider.render(#"{"notification":{"body":"\#(fits)"}}"#)
    #expect(
      throws: InvalidField(
        pointer: "/notification",
        message: "makes a JPush notification for iOS of 2,001 bytes, and 2,000 are allowed: "
          + "shorten it")
    ) { try provider.render(#"{"notification":{"body":"\#(fits)x"}}"#) }
    #expect {
      try provider.render(#"{"jpush":{"notification":{"ios":{"alert":"\#(fits)x"}}}}"#)
    } throws: {
      ($0 as? InvalidField)?.pointer == "/jpush"
    }
  }

  @Test("notification and message for Android may have 4,000 bytes together")
  func androidLimit() throws {
    let provider = try TestProvider.jpush()
    let frame = #"{"alert":"a"}"#.utf8.count + #"{"msg_content":""}"#.utf8.count
    let fits = String(repeating: "x", count: 4_000 - frame)
    func job(_ text: String) -> String {
      """
      {"jpush":{"notification":{"android":{"alert":"a"}},"message":{"msg_content":"\(text)"}}}
      """
    }
    _ = try provider.render(job(fits))
    #expect(
      throws: InvalidField(
        pointer: "/jpush",
        message: "makes a JPush notification and message for Android of 4,001 bytes, and 4,000 "
          + "are allowed: shorten it")
    ) { try provider.render(job(fits + "x")) }
  }

  @Test(
    "a job that says nothing for JPush is refused for it",
    arguments: [#"{"fcm":{"message":{}}}"#, #"{"jpush":{"options":{"sendno":1}}}"#])
  func nothing(job: String) throws {
    #expect {
      try TestProvider.jpush().render(job)
    } throws: {
      ($0 as? InvalidField)?.pointer == "/jpush"
    }
  }
}
