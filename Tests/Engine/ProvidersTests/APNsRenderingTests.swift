import Model
import Testing

@testable import Providers

@Suite("Pushes for APNs")
struct APNsRenderingTests {
  @Test("the common notification fills aps, and data stands beside it")
  func full() throws {
    let push = try TestProvider.apns().render(
      """
      {"notification": {"title": "Sale", "body": "Now \\"50 %\\"", "badge": 3, "sound": "default",
        "category": "LikeCategory", "thread_id": "shop", "content_available": true,
        "mutable_content": true, "data": {"order": "17", "deep/link": "app://x"}},
       "collapse_id": "spring", "ttl_seconds": 3600}
      """)
    #expect(
      push.text(token: "")
        == #"{"deep/link":"app://x","order":"17","aps":{"alert":{"title":"Sale","body":"Now \"50 %\""},"#
        + #""badge":3,"sound":"default","category":"LikeCategory","thread-id":"shop","#
        + #""content-available":1,"mutable-content":1}}"#)
    #expect(push.path == .perToken(prefix: Array("/3/device/".utf8)))
    #expect(push.dryRun == .off)
    #expect(
      push.headers == [
        RenderedPush.Header("apns-topic", "com.example.shop"),
        RenderedPush.Header("apns-push-type", "alert"),
        RenderedPush.Header("apns-priority", "10"),
        RenderedPush.Header("apns-expiration", "1790003600"),
        RenderedPush.Header("apns-collapse-id", "spring"),
      ])
  }

  @Test("a title alone needs no more than a title")
  func minimal() throws {
    let push = try TestProvider.apns().render(#"{"notification":{"title":"Hi"}}"#)
    #expect(push.text(token: "") == #"{"aps":{"alert":{"title":"Hi"}}}"#)
    #expect(push["apns-expiration"] == nil)
    #expect(push["apns-collapse-id"] == nil)
  }

  @Test(
    "what shows nothing is a background push of priority 5",
    arguments: [
      #"{"notification":{"content_available":true}}"#,
      #"{"apns":{"payload":{"aps":{"content-available":1}}}}"#,
      #"{"apns":{"payload":{}}}"#,
    ])
  func silent(json: String) throws {
    let push = try TestProvider.apns().render(json)
    #expect(push.text(token: "") == #"{"aps":{"content-available":1}}"#)
    #expect(push["apns-push-type"] == "background")
    #expect(push["apns-priority"] == "5")
  }

  @Test("a push with a title that is said to be background is one, and keeps its alert")
  func background() throws {
    let push = try TestProvider.apns().render(
      #"{"notification":{"title":"t"},"apns":{"push_type":"background"}}"#)
    #expect(push.text(token: "") == #"{"aps":{"alert":{"title":"t"},"content-available":1}}"#)
    #expect(push["apns-push-type"] == "background")
    #expect(push["apns-priority"] == "5")
  }

  @Test("data alone is sent in the background")
  func dataOnly() throws {
    let push = try TestProvider.apns().render(#"{"notification":{"data":{"k":"v"}}}"#)
    #expect(
      try push.json()
        == .object(["k": .string("v"), "aps": .object(["content-available": .integer(1)])]))
    #expect(push["apns-push-type"] == "background")
  }

  @Test("apns.payload is laid over the common part, member by member")
  func merge() throws {
    let push = try TestProvider.apns().render(
      """
      {"notification": {"title": "Sale", "body": "old", "sound": "default", "data": {"k": "v"}},
       "apns": {"payload": {"aps": {"alert": {"body": "new", "loc-key": "L"}, "sound":
         {"critical": 1}}, "k": {"deep": [null, true]}, "more": 1.50}}}
      """)
    #expect(
      try push.json()
        == JSONParser().parse(
          """
          {"k": {"deep": [null, true]}, "aps": {"alert": {"title": "Sale", "body": "new",
           "loc-key": "L"}, "sound": {"critical": 1}}, "more": 1.50}
          """))
  }

  @Test("an image is handed to the notification service extension")
  func image() throws {
    let push = try TestProvider.apns().render(
      #"{"notification":{"title":"t","image":"https://e.example/i.png"}}"#)
    #expect(
      push.text(token: "")
        == #"{"image":"https://e.example/i.png","aps":{"alert":{"title":"t"},"mutable-content":1}}"#
    )
  }

  @Test(
    "each push type adds its suffix to the topic",
    arguments: [
      ("alert", ""), ("background", ""), ("mdm", ""), ("voip", ".voip"),
      ("complication", ".complication"), ("fileprovider", ".pushkit.fileprovider"),
      ("liveactivity", ".push-type.liveactivity"), ("location", ".location-query"),
      ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"),
      ("controls", ".push-type.controls"),
    ])
  func topics(pushType: String, suffix: String) throws {
    // What a Live Activity needs, and others may have.
    let aps = #""aps":{"event":"end","timestamp":1790000000}"#
    let push = try TestProvider.apns().render(
      #"{"apns":{"push_type":"\#(pushType)","payload":{\#(aps)}}}"#)
    #expect(push["apns-topic"] == "com.example.shop" + suffix)
    #expect(push["apns-push-type"] == pushType)
    // An own topic takes the place of the configured one and is not given the suffix twice.
    let own = try TestProvider.apns().render(
      #"{"apns":{"push_type":"\#(pushType)","topic":"own\#(suffix)","payload":{\#(aps)}}}"#)
    #expect(own["apns-topic"] == "own" + suffix)
  }

  @Test("a VoIP push is given no content-available")
  func voip() throws {
    let push = try TestProvider.apns().render(
      #"{"apns":{"push_type":"voip","payload":{"call":"1"}}}"#)
    #expect(push.text(token: "") == #"{"call":"1"}"#)
    #expect(push["apns-priority"] == "10")
  }

  @Test("a priority is kept, but a background push may not be immediate")
  func priority() throws {
    let push = try TestProvider.apns().render(
      #"{"notification":{"title":"t"},"apns":{"priority":1}}"#)
    #expect(push["apns-priority"] == "1")
    #expect(
      throws: InvalidField(
        pointer: "/apns/priority", message: "must be 5 for a background push, is 10")
    ) {
      try TestProvider.apns().render(
        #"{"notification":{"content_available":true},"apns":{"priority":10}}"#)
    }
  }

  @Test("a ttl of 0 tells APNs not to store, and an instant is passed in seconds")
  func expiration() throws {
    let provider = try TestProvider.apns()
    #expect(
      try provider.render(#"{"notification":{"title":"t"},"ttl_seconds":0}"#)["apns-expiration"]
        == "0")
    #expect(
      try provider.render(#"{"notification":{"title":"t"},"expires_at":1790000007999}"#)[
        "apns-expiration"] == "1790000007")
    // A relative expiry counts from the job's creation: a retry does not lengthen it.
    #expect(
      try provider.render(
        #"{"notification":{"title":"t"},"ttl_seconds":60}"#, createdAtMs: 1_000_000,
        nowMs: 1_050_000)["apns-expiration"] == "1060")
  }

  @Test("a dry run sends nothing")
  func dryRun() throws {
    let push = try TestProvider.apns().render(#"{"notification":{"title":"t"},"dry_run":true}"#)
    #expect(push.dryRun == .skip)
  }

  @Test("a payload of the limit passes; one byte more is refused with size, limit and place")
  func limit() throws {
    let provider = try TestProvider.apns()
    let frame = #"{"aps":{"alert":{"title":""}}}"#.utf8.count
    let fits = String(repeating: "x", count: 4_096 - frame)
    #expect(
      try provider.render(#"{"notification":{"title":"\#(fits)"}}"#).text(token: "").utf8.count
        == 4_096)
    #expect(
      throws: InvalidField(
        pointer: "/notification",
        message: "makes an APNs payload of 4,097 bytes, and 4,096 are allowed for push type alert: "
          + "shorten it")
    ) { try provider.render(#"{"notification":{"title":"\#(fits)x"}}"#) }
  }

  @Test("a VoIP payload may have 5,120 bytes, and apns.payload is blamed when it is the bulk")
  func voipLimit() throws {
    let provider = try TestProvider.apns()
    let fits = String(repeating: "x", count: 5_120 - #"{"a":""}"#.utf8.count)
    _ = try provider.render(#"{"apns":{"push_type":"voip","payload":{"a":"\#(fits)"}}}"#)
    #expect(
      throws: InvalidField(
        pointer: "/apns/payload",
        message: "makes an APNs payload of 5,121 bytes, and 5,120 are allowed for push type voip: "
          + "shorten it")
    ) { try provider.render(#"{"apns":{"push_type":"voip","payload":{"a":"\#(fits)x"}}}"#) }
  }

  @Test("a job for other networks only is refused for APNs")
  func nothing() throws {
    #expect {
      try TestProvider.apns().render(#"{"fcm":{"message":{"data":{"k":"v"}}}}"#)
    } throws: {
      ($0 as? InvalidField)?.pointer == "/apns"
    }
  }

  @Test("a CR, LF or outer space that came past admission does not become a header")
  func smuggling() throws {
    var content = JobContent(notification: Notification(title: "t"))
    content.collapseID = "a\r\nb: c"
    #expect(
      throws: InvalidField(
        pointer: "/collapse_id",
        message: "must be printable ASCII without a space at its beginning or end")
    ) { try TestProvider.apns().render(content, createdAtMs: 0, nowMs: 0) }
    content.collapseID = "a "
    #expect(throws: InvalidField.self) {
      try TestProvider.apns().render(content, createdAtMs: 0, nowMs: 0)
    }
    content.collapseID = nil
    content.apns = APNsPart(topic: "a\nb")
    #expect(
      throws: InvalidField(
        pointer: "/apns/topic",
        message: "must be printable ASCII without a space at its beginning or end")
    ) { try TestProvider.apns().render(content, createdAtMs: 0, nowMs: 0) }
  }
}
