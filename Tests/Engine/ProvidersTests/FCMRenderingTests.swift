import Model
import Testing

@testable import Providers

@Suite("Pushes for FCM")
struct FCMRenderingTests {
  @Test("the common notification fills notification, data and android, around the token")
  func full() throws {
    let push = try TestProvider.fcm().render(
      """
      {"notification": {"title": "Sale", "body": "Now", "badge": 3, "sound": "default",
        "image": "https://e.example/i.png", "category": "c", "data": {"order": "17"}},
       "collapse_id": "spring", "ttl_seconds": 3600}
      """, createdAtMs: 1_000_000, nowMs: 1_600_000)
    #expect(
      push.text(token: "TOKEN")
        == #"{"message":{"token":"TOKEN","notification":{"title":"Sale","body":"Now","#
        + #""image":"https://e.example/i.png"},"data":{"order":"17"},"android":{"priority":"HIGH","#
        + #""notification":{"sound":"default","notification_count":3},"ttl":"3000s","#
        + #""collapse_key":"spring"}}}"#)
    #expect(push.path == .fixed(Array("/v1/projects/demo-shop/messages:send".utf8)))
    #expect(push.headers == [RenderedPush.Header("content-type", "application/json")])
    #expect(push.dryRun == .off)
  }

  @Test("what shows nothing is a data message of normal priority")
  func dataOnly() throws {
    let push = try TestProvider.fcm().render(
      #"{"notification":{"content_available":true,"data":{"k":"v"}}}"#)
    #expect(push.text(token: "T") == #"{"message":{"token":"T","data":{"k":"v"}}}"#)
  }

  @Test("a message with nothing but its target is still valid JSON")
  func empty() throws {
    let push = try TestProvider.fcm().render(#"{"notification":{"badge":1}}"#)
    #expect(push.text(token: "T") == #"{"message":{"token":"T"}}"#)
  }

  @Test("a badge of 0 goes out as it is, and FCM treats it as none")
  func badgeOfZero() throws {
    let push = try TestProvider.fcm().render(#"{"notification":{"title":"t","badge":0}}"#)
    #expect(
      push.text(token: "T")
        == #"{"message":{"token":"T","notification":{"title":"t"},"android":{"priority":"HIGH","#
        + #""notification":{"notification_count":0}}}}"#)
  }

  @Test("a push type is for APNs alone: a title is shown on FCM, with priority HIGH")
  func background() throws {
    let push = try TestProvider.fcm().render(
      #"{"notification":{"title":"t"},"apns":{"push_type":"background"}}"#)
    #expect(
      push.text(token: "T")
        == #"{"message":{"token":"T","notification":{"title":"t"},"android":{"priority":"HIGH"}}}"#
    )
  }

  @Test("fcm.message is laid over the common part, member by member")
  func merge() throws {
    let push = try TestProvider.fcm().render(
      """
      {"notification": {"title": "a", "body": "b", "data": {"k": "v"}},
       "fcm": {"message": {"notification": {"body": "c"}, "data": {"m": "n"},
         "android": {"priority": "NORMAL", "notification": {"channel_id": "news"}},
         "apns": {"payload": {"aps": {"badge": 1}}}}}}
      """)
    #expect(
      try push.json(token: "T")
        == JSONParser().parse(
          """
          {"message": {"token": "T", "notification": {"title": "a", "body": "c"},
           "data": {"k": "v", "m": "n"}, "android": {"priority": "NORMAL",
           "notification": {"channel_id": "news"}}, "apns": {"payload": {"aps": {"badge": 1}}}}}
          """))
  }

  @Test("a dry run is a request that FCM only validates")
  func dryRun() throws {
    let push = try TestProvider.fcm().render(#"{"notification":{"title":"t"},"dry_run":true}"#)
    #expect(push.dryRun == .validateOnly)
    #expect(push.text(token: "T").hasPrefix(#"{"validate_only":true,"message":{"token":"T","#))
    _ = try push.json()
  }

  @Test(
    "the time to live is what is left, from 0 to four weeks",
    arguments: [
      (#""ttl_seconds":60"#, Int64(10_500), "49s"), (#""ttl_seconds":60"#, 60_000, "0s"),
      (#""ttl_seconds":60"#, 99_000, "0s"), (#""ttl_seconds":0"#, 0, "0s"),
      (#""expires_at":1790000000000"#, 0, "2419200s"),
    ])
  func ttl(expiry: String, nowMs: Int64, expected: String) throws {
    let push = try TestProvider.fcm().render(
      #"{"notification":{"title":"t"},\#(expiry)}"#, createdAtMs: 0, nowMs: nowMs)
    let message = try push.json().objectValue?["message"]?.objectValue
    #expect(message?["android"]?.objectValue?["ttl"] == .string(expected))
  }

  /// What the app's networks say of a job that is enqueued.
  private static func admitted(_ json: String) throws -> ContentCheck {
    let provider = try TestProvider.fcm()
    let content = try JobContent(bytes: Array(json.utf8))
    do throws(InvalidField) {
      let rendered = try provider.render(content, createdAtMs: 0, nowMs: 0)
      try provider.checkAdmission(of: content, as: rendered)
      return .sendable
    } catch {
      return .refused(error)
    }
  }

  @Test("notification and data may have 4,096 bytes together; one more is refused with the size")
  func limit() throws {
    // A message is framed by 39 bytes and each entry by 6; a notification's names are longer on the device.
    let others = 39 + 6 + "gcm.notification.title".utf8.count + "t".utf8.count + 6 + "k".utf8.count
    let fits = String(repeating: "x", count: 4_096 - others)
    #expect(
      try Self.admitted(#"{"notification":{"title":"t","data":{"k":"\#(fits)"}}}"#) == .sendable)
    #expect(
      try Self.admitted(#"{"notification":{"title":"t","data":{"k":"\#(fits)x"}}}"#)
        == .refused(
          InvalidField(
            pointer: "/notification",
            message: "makes an FCM payload of 4,097 bytes of notification and data, as FCM counts, "
              + "and 4,096 are allowed: shorten it")))
    let long = String(repeating: "x", count: 4_051)
    guard
      case .refused(let field) = try Self.admitted(
        #"{"fcm":{"message":{"data":{"k":"\#(long)"}}}}"#)
    else {
      Issue.record("not refused")
      return
    }
    #expect(field.pointer == "/fcm/message")
  }

  @Test(
    "data counts as others have measured it",
    arguments: [
      (#"{"k":"x4050"}"#, true), (#"{"k":"x4051"}"#, false),
      (#"{"k":"x4000","kk":"x42"}"#, true), (#"{"k":"x4000","kk":"x43"}"#, false),
    ])
  func counts(data: String, fits: Bool) throws {
    let spelled = data.replacing(/x(\d+)/) { String(repeating: "x", count: Int($0.1)!) }
    for message in [
      "\"data\":\(spelled)", "\"data\":{\"k\":\"v\"},\"android\":{\"data\":\(spelled)}",
    ] {
      #expect(
        try (Self.admitted("{\"fcm\":{\"message\":{\(message)}}}") == .sendable) == fits)
    }
  }

  @Test("what was admitted is FCM's to judge, unless names and values alone are too many")
  func rendersAdmitted() throws {
    let provider = try TestProvider.fcm()
    let most = String(repeating: "x", count: 4_095)
    _ = try provider.render(#"{"fcm":{"message":{"data":{"k":"\#(most)"}}}}"#)
    #expect(throws: InvalidField.self) {
      try provider.render(#"{"fcm":{"message":{"data":{"k":"\#(most)x"}}}}"#)
    }
  }

  @Test("what is filled in counts as what was there, framing and all")
  func countsFilledTexts() throws {
    let variants = try MessageVariants(
      JobContent(
        bytes: Array(
          #"{"notification":{"title":"t","data":{"k":"{{v}}"}},"variables_key":"x"}"#.utf8)))
    let rendered = try TestProvider.fcm().render(variants.contents[0], createdAtMs: 0, nowMs: 0)
    let filled = rendered.filled(badge: 0) { _ in "value" }
    #expect(filled.limits.map(\.bytes) == [39 + 6 + 22 + 1 + 6 + 1 + 5])
  }

  @Test(
    "a Firebase installation ID goes out as one, and a registration token as a token",
    arguments: [
      ("cAbCdEfGhIjKlMnOpQrS-_", "fid"), ("f000000000000000000000", "fid"),
      ("bAbCdEfGhIjKlMnOpQrS-_", "token"), ("cAbCdEfGhIjKlMnOpQrS-", "token"),
      ("cAbCdEfGhIjKlMnOpQrS-_x", "token"), ("cAbCdEfGhIjKlMnOpQrS-.", "token"),
      ("cAbCdEfGhIjKlMnOpQrS-:", "token"), ("cAbCdEfGhIjKlMnOpQrS-_:APA91b", "token"),
    ])
  func installationID(token: String, member: String) throws {
    let push = try TestProvider.fcm().render(#"{"notification":{"title":"t"},"dry_run":true}"#)
    #expect(
      push.text(token: token)
        == #"{"validate_only":true,"message":{"\#(member)":"\#(token)","notification":{"title":"t"}"#
        + #","android":{"priority":"HIGH"}}}"#)
  }

  @Test("a job for other networks only is refused for FCM")
  func nothing() throws {
    #expect {
      try TestProvider.fcm().render(#"{"apns":{"payload":{"aps":{}}}}"#)
    } throws: {
      ($0 as? InvalidField)?.pointer == "/fcm"
    }
  }
}
