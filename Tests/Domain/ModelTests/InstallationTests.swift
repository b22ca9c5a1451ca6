import Model
import Testing

@Suite struct InstallationTests {
  private static func complaint(_ text: String) -> String {
    do {
      _ = try Installation(text: text)
      return "accepted"
    } catch { return "\(error)" }
  }

  private static func complaint(fields: String) -> String {
    complaint(#"{"app":"shop","user":"u1","network":"fcm","token":"abcdefgh",\#(fields)}"#)
  }

  static let full = #"""
    {"app":"shop","user":"u1","network":"apns","token":"ABCDEF01","environment":"development",
     "object_id":"o_1-x","device_type":"ios","app_name":"Shop","app_version":"1.2","os_version":"18.0",
     "sdk_version":"3","time_zone":"America/Argentina/Buenos_Aires","language":"zh-Hant",
     "badge":2,"channels":["news","news","a b"],"created_at":"2026-01-02T03:04:05.678Z",
     "updated_at":1790000000000,"custom":{"b.c-d_e":"x","a":""}}
    """#

  @Test("a line with every field is read, written and read again")
  func everyField() throws {
    let installation = try Installation(text: Self.full)
    var expected = Installation(
      app: "shop", user: "u1", token: try DeviceToken("abcdef01", network: .apns),
      environment: .development, objectID: "o_1-x",
      device: Installation.Device(
        type: "ios", appName: "Shop", appVersion: "1.2", osVersion: "18.0", sdkVersion: "3",
        timeZone: "America/Argentina/Buenos_Aires", language: "zh-Hant"),
      channels: ["news", "a b"], custom: ["b.c-d_e": "x", "a": ""])
    expected.badge = 2
    expected.createdAtMs = 1_767_323_045_678
    expected.updatedAtMs = 1_790_000_000_000
    #expect(installation == expected)
    #expect(try Installation(json: installation.json()) == installation)
    #expect(!installation.json().text().contains("\n"))
  }

  @Test("a line with the needed fields is in production")
  func defaults() throws {
    let installation = try Installation(
      text: #"{"app":"shop","user":"u1","network":"jpush","token":"1104a89792a"}"#)
    #expect(
      installation
        == Installation(
          app: "shop", user: "u1", token: try DeviceToken("1104a89792a", network: .jpush)))
    #expect(installation.environment == .production)
    #expect(try Installation(json: installation.json()) == installation)
  }

  @Test(
    "a bad line is refused with its pointer and its rule",
    arguments: [
      ("", "not valid JSON"), ("[]", "must be an object"), ("{}", "/app: is missing"),
      (#"{"app":"s"}"#, "/user: is missing: an installation belongs to a user"),
      (#"{"app":"s","user":""}"#, "/user: must not be empty"),
      (#"{"app":"s","user":"u"}"#, "/network: is missing"),
      (#"{"app":"s","user":"u","network":"wns"}"#, "/network: must be one of apns, fcm, jpush"),
      (#"{"app":"s","user":"u","network":"fcm"}"#, "/token: is missing"),
      (#"{"app":"s","user":"u","network":"fcm","token":"a/b"}"#, "/token: an FCM token must be 8"),
      (#"{"app":"s:","user":"u"}"#, "/app: must be 1 to 64"),
      (#"{"app":"s","user":"u\nv"}"#, "/user: must not hold control characters"),
    ])
  func bad(text: String, expected: String) {
    let complaint = Self.complaint(text)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "a bad optional field is refused",
    arguments: [
      (#""timezone":"UTC""#, "/timezone: is not a known field; did you mean \"time_zone\"?"),
      (#""time_zone":"a b""#, "/time_zone: must be 1 to 64 ASCII letters, digits or _ + - /"),
      (#""environment":"sandbox""#, "/environment: must be one of production, development"),
      (#""object_id":"a:b""#, "/object_id: must be 1 to 64"),
      (#""device_type":"""#, "/device_type: must not be empty"),
      (#""app_version":"1\u0000""#, "/app_version: must not hold control characters"),
      (#""language":"zh Hant""#, "/language: must be"), (#""badge":-1"#, "/badge: must be"),
      (#""channels":"a""#, "/channels: must be an array"),
      (#""channels":["a",""]"#, "/channels/1: must not be empty"),
      (#""channels":[null]"#, "/channels/0: must be a string"),
      (#""created_at":"2026""#, "/created_at: must be epoch milliseconds or"),
      (#""created_at":0"#, "/created_at: is in the year 1973 or before"),
      (
        #""updated_at":1700000000"#,
        "/updated_at: is in the year 1973 or before, as epoch milliseconds: are these seconds?"
      ), (#""updated_at":99999999999"#, "/updated_at: is in the year 1973 or before"),
      (#""custom":{"a b":"x"}"#, "/custom/a b: the name must be 1 to 64"),
      (#""custom":{"a":1}"#, "/custom/a: must be a string, is a number"),
    ])
  func badOptional(fields: String, expected: String) {
    let complaint = Self.complaint(fields: fields)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("every field of an installation is bounded")
  func bounded() {
    let long = String(repeating: "x", count: 1_100)
    for name in [
      "object_id", "device_type", "app_name", "app_version", "os_version", "sdk_version",
      "time_zone", "language",
    ] {
      #expect(Self.complaint(fields: "\"\(name)\":\"\(long)\"").hasPrefix("/\(name): must be"))
    }
    #expect(Self.complaint(fields: "\"custom\":{\"a\":\"\(long)\"}").contains("at most 1024"))
    let channels = (0...100).map { "\"c\($0)\"" }.joined(separator: ",")
    #expect(Self.complaint(fields: "\"channels\":[\(channels)]").contains("at most 100"))
    let custom = (0...50).map { "\"c\($0)\":\"\"" }.joined(separator: ",")
    #expect(Self.complaint(fields: "\"custom\":{\(custom)}").contains("at most 50"))
    let user = String(repeating: "u", count: 257)
    #expect(Self.complaint("{\"app\":\"s\",\"user\":\"\(user)\"}").contains("at most 256 bytes"))
    let huge = String(repeating: " ", count: Limits.installationBytesMax)
    #expect(Self.complaint("{}" + huge).contains("at most 65536"))
  }

  @Test("characters that nobody sees are a user id's as any others: with them it is another user's")
  func invisibleUsers() throws {
    func user(_ text: String) throws -> String {
      try Installation(
        bytes: Array(
          #"{"app":"s","user":"\#(text)","network":"jpush","token":"1104a89792a"}"#.utf8)
      ).user
    }
    for mark in ["\u{200B}", "\u{200D}", "\u{FEFF}", "\u{AD}"] {
      #expect(try user("u\(mark)1") == "u\(mark)1")
      #expect(try user("u\(mark)1") != user("u1"))
    }
  }
}
