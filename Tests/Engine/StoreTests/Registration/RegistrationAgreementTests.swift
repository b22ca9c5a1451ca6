import Model
import Redis
import Testing

@testable import Store

/// What a backend may register is what the command line imports: the functions and the program take the same documents, and refuse
/// the others in the same words.
@Suite struct RegistrationAgreementTests {
  private static let head = #""app":"shop","user":"u1","network":"#

  private static func fields(_ text: String, network: String = "fcm") -> String {
    let token = network == "apns" ? "ab12ab12" : "abcdefgh"
    return "{\(head)\"\(network)\",\"token\":\"\(token)\",\(text)}"
  }

  private static func x(_ count: Int, _ text: String = "x") -> String {
    String(repeating: text, count: count)
  }

  /// Sound and unsound values of each field.
  private static let values: [String] = [
    #""environment":"development""#, #""environment":"sandbox""#, #""environment":"""#,
    #""environment":null"#, #""environment":"Production""#, #""environment":"produktion""#,
    #""kind":"alert""#, #""kind":"voip""#, #""kind":"voice""#, #""kind":7"#,
    #""object_id":"o_1-x""#, #""object_id":"a:b""#, #""object_id":"""#,
    #""object_id":"\#(x(64))""#, #""object_id":"\#(x(65))""#,
    #""device_type":"""#, #""device_type":"a\u007f""#, #""device_type":"a\u0085""#,
    #""device_type":"ä€😀""#, #""device_type":"\ud83d\ude00""#, #""device_type":"\#(x(65))""#,
    #""app_name":"\#(x(128, "ä"))""#, #""app_name":"\#(x(129, "ä"))""#,
    #""app_version":"1\u0000""#, #""app_version":1"#, #""app_version":true"#,
    #""os_vern":"15""#, #""vrsion":"15""#, #""os_version":["1"]"#, #""os_version":{"a":"1"}"#,
    #""sdk_version":"3""#,
    #""time_zone":"America/Argentina/Buenos_Aires""#, #""time_zone":"Etc/GMT+3""#,
    #""time_zone":"GMT+09:00""#, #""time_zone":"a;b""#,
    #""time_zone":"a b""#, #""timezone":"UTC""#, #""time zone":"UTC""#,
    #""language":"zh-Hant""#, #""language":"zh Hant""#, #""language":"\#(x(36))""#,
    #""badge":0"#, #""badge":-0"#, #""badge":2147483647"#, #""badge":2147483648"#, #""badge":-1"#,
    #""badge":1.0"#, #""badge":1.5"#, #""badge":1e2"#, #""badge":1e400"#, #""badge":"1""#,
    #""badge":null"#, #""badge":01"#, #""badge":0x10"#, #""badge":NaN"#, #""badge":Infinity"#,
    #""badge":-"#, #""badge":1."#, #""badge":1e"#, #""badge":+1"#, #""badge":9223372036854775808"#,
    #""badge":\#(x(64, "9"))"#, #""badge":\#(x(65, "9"))"#,
    #""channels":[]"#, #""channels":{}"#, #""channels":["a","a","b"]"#, #""channels":"a""#,
    #""channels":["a",""]"#, #""channels":[null]"#, #""channels":[["a"]]"#, #""channels":[1]"#,
    #""channels":["a\nb"]"#, #""channels":["\#(x(65))"]"#, #""channels":[\#(x(99, "\"a\","))"b"]"#,
    #""channels":[\#(x(100, "\"a\","))"b"]"#, #""channels":[\#(x(2_000, "1,"))1]"#,
    #""created_at":0"#, #""created_at":253402300799999"#, #""created_at":253402300800000"#,
    #""created_at":-1"#, #""created_at":1e3"#, #""created_at":"""#, #""created_at":"2026""#,
    #""created_at":"2026-01-02T03:04:05Z""#, #""created_at":"2026-01-02t03:04:05.678901z""#,
    #""created_at":"2026-01-02 03:04:05.6-23:59""#, #""created_at":"2026-01-02T03:04:05""#,
    #""created_at":"2026-02-29T03:04:05Z""#, #""created_at":"2028-02-29T23:59:60+01:00""#,
    #""created_at":"2100-02-29T00:00:00Z""#, #""created_at":"2026-13-01T00:00:00Z""#,
    #""created_at":"2026-04-31T00:00:00Z""#, #""created_at":"2026-01-01T24:00:00Z""#,
    #""created_at":"2026-01-01T00:60:00Z""#, #""created_at":"2026-01-01T00:00:61Z""#,
    #""created_at":"1969-12-31T23:59:59Z""#, #""created_at":"1970-01-01T00:59:59+01:00""#,
    #""created_at":"0000-01-01T00:00:00Z""#, #""created_at":"2026-01-01T00:00:00.Z""#,
    #""created_at":"2026-01-01T00:00:00+1:00""#,
    #""created_at":"2026-01-01T00:00:00.\#(x(30, "1"))Z""#,
    #""created_at":1700000000"#, #""created_at":"1970-06-01T00:00:00Z""#,
    #""created_at":"1990-01-01T00:00:00Z""#,
    #""updated_at":false"#, #""updated_at":null"#, #""updated_at":1790000000000"#,
    #""updated_at":1700000000"#, #""updated_at":99999999999"#, #""updated_at":100000000000"#,
    #""custom":{}"#, #""custom":[]"#, #""custom":{"a":""}"#, #""custom":{"a":"\u0000\n"}"#,
    #""custom":{"a b":"x"}"#, #""custom":{"":"x"}"#, #""custom":{"a/~":"x"}"#,
    #""custom":{"a":1}"#, #""custom":{"a":null}"#, #""custom":{"\#(x(65))":"x"}"#,
    #""custom":{"a":"\#(x(1_024))"}"#, #""custom":{"a":"\#(x(1_025))"}"#,
    #""custom":{"a":"x","a":"y"}"#, #""custom":{"a":"x","\u0061":"y"}"#,
    #""custom":{\#((0..<50).map { "\"c\($0)\":\"\"" }.joined(separator: ","))}"#,
    #""custom":{\#((0..<51).map { "\"c\($0)\":\"\"" }.joined(separator: ","))}"#,
    #""custom":\#(x(63, "["))\#(x(63, "]"))"#, #""custom":\#(x(64, "["))\#(x(64, "]"))"#,
    #""custom":\#(x(70, "{\"a\":"))1\#(x(70, "}"))"#,
    #""app":"again""#, #""App":"x""#, #""nonsense":"x""#, #""":"x""#, #""\#(x(80, "ä"))":1"#,
    #""a\u0001\u0080~/b":1"#, #""tokens":"x""#, #""us":"x""#, #""upd":1"#, #""objectid":1"#,
    #""device_type":"\"\\\/\b""#, #""device_type":"\x""#, #""device_type":"\u12g4""#,
    #""device_type":"\ud83d""#, #""device_type":"\ude00""#, #""device_type":"\ud83dx""#,
    #""device_type":"\ud83d\u0041""#, #""device_type":"\ud83d\n""#, "\"device_type\":\"a\tb\"",
  ]

  /// Documents that are wrong as a whole, and tokens.
  private static let documents: [String] = [
    "", " ", "{", "}", "[]", "null", "7", "\"x\"", "{}", "{ }", "[", "{\"", "{\"a", "{\"a\"",
    "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\":tru}", "{\"a\":nul", "{a:1}",
    "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1,]", "[1 2]", "[1", "{\"a\":\"\\", "{\"a\":\"\\u00",
    "{\"a\":\"b\\\"}", "\u{feff}{}", "{}x", "{} {}", "{}\u{0}", "{\"app\":\"x\u{1}\\q\"}",
    #"{"app":"s"}"#, #"{"app":""}"#, #"{"app":"a/b"}"#, #"{"app":"\#(x(65))"}"#, #"{"app":null}"#,
    #"{"app":"s","user":""}"#, #"{"app":"s","user":"u"}"#, #"{"app":"s","user":["u"]}"#,
    #"{"app":"s","user":"\#(x(257))"}"#, #"{"app":"s","user":"u\nv"}"#,
    #"{"app":"s","user":"u","network":"wns"}"#, #"{"app":"s","user":"u","network":"APNS"}"#,
    #"{"app":"s","user":"u","network":"fcm"}"#, #"{"app":"s","user":"u","network":1}"#,
    #" { "app" : "s" , "user" : "u" , "network" : "fcm" , "token" : "abcdefgh" } "#,
    "{\"app\":\"s\",\n\t\"user\":\"\\u0075\",\r\"network\":\"fcm\",\"token\":\"abcd\\u0065fgh\"}",
    "{}\(x(65_535, " "))", "{}\(x(65_534, " "))",
    "{\"custom\":{\"a\":\"\(x(30_000, "\\n"))\"}}", "{\"custom\":{\"a\":\"\(x(20_000, "€"))\"}}",
    "[\(x(10_000, "\"\",")) 1]", x(60_000, "["),
  ]

  private static let tokens: [(String, String)] = [
    ("apns", "ABCDEF01"), ("apns", "abcdef0"), ("apns", "abcdef012"), ("apns", "abcdefgh"),
    ("apns", x(200, "a")), ("apns", x(202, "a")), ("fcm", "a/bcdefgh"), ("fcm", "abc..defg"),
    ("fcm", "a_:-.%~=+"), ("fcm", x(4_096)), ("fcm", x(4_097)), ("fcm", "abcdefgé"),
    ("jpush", "1104a89792a"), ("jpush", "abc"), ("jpush", "ab-c"), ("jpush", x(129)), ("fcm", ""),
    ("apns", "ab12\u{200B}ab12"), ("fcm", "\u{FEFF}abcdefgh"), ("jpush", "1104a\u{200D}89792a"),
  ]

  private static var all: [[UInt8]] {
    let texts =
      values.map { fields($0) } + values.prefix(10).map { fields($0, network: "apns") } + documents
      + tokens.map { "{\(head)\"\($0.0)\",\"token\":\"\($0.1)\"}" }
    let invalid: [[UInt8]] = [
      [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xC3, 0x28], [0xF5, 0x80, 0x80, 0x80],
      [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0xEF, 0xBF, 0xBF], [0xC2, 0x80],
    ]
    let broken = invalid.flatMap { bytes in
      [#""device_type":"a"#, #""device_type":"\n"#, #""custom":{"a":""#].map { field in
        Array("{\(head)\"fcm\",\"token\":\"abcdefgh\",\(field)".utf8) + bytes
          + Array(field.hasPrefix("\"c") ? "\"}}".utf8 : "\"}".utf8)
      }
    }
    let whole = "{\(head)\"fcm\",\"token\":\"abcdefgh\"}"
    let marks: [[UInt8]] = [
      [0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE], [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0],
    ]
    // The order of the bytes within each unit is told by the first alone.
    let encoded = [[0, 1], [1, 0], [0, 0, 0, 1], [1, 0, 0, 0]].map { unit in
      whole.utf8.flatMap { byte in unit.map { UInt8($0) * byte } }
    }
    return texts.map { Array($0.utf8) } + broken + marks.map { $0 + Array(whole.utf8) } + encoded
  }

  @Test func `the functions take what the program takes, and refuse the rest in its words`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      var taken = 0
      for document in Self.all {
        _ = try await store.redis("FLUSHALL")
        let refusal = try await store.refusal(of: document)
        let shown = String(decoding: document.prefix(300), as: UTF8.self)
        do {
          let installation = try Installation(bytes: document)
          #expect(refusal == nil, "\(shown)")
          let record = try await store.installations.installation(
            app: installation.app, token: installation.token)
          // What the store adds, and a time that lies ahead, apart.
          var stored = try #require(record, "\(shown)").installation
          if installation.objectID == nil { stored.objectID = nil }
          if installation.createdAtMs == nil { stored.createdAtMs = nil }
          stored.updatedAtMs = installation.updatedAtMs
          stored.leavesChannels = installation.leavesChannels
          #expect(stored == installation, "\(shown)")
          taken += 1
        } catch let error as InvalidField {
          #expect(refusal == error.description, "\(shown)")
          #expect(try await store.allKeys() == [], "\(shown)")
        }
      }
      #expect(taken > 40)
    }
  }

  @Test(arguments: [
    (#"{"app":"s"}"#, "/network: is missing: apns, fcm or jpush"),
    (
      #"{"app":"s","network":"fcm","token":"abcdefgh","owner":"u"}"#,
      "/owner: is not a known field; known here: app, network, token, user"
    ),
    (
      #"{"app":"s","network":"fcm","token":"a"}"#,
      "/token: an FCM token must be 8 to 4096 characters, is 1"
    ),
    (
      #"{"app":"s","network":"fcm","token":"abcdefgh","user":""}"#, "/user: must not be empty"
    ),
    (
      #"{"app":"s","network":"fcm","token":"abcdefgh","user":null}"#,
      "/user: must be a string, is null: leave the field out instead"
    ),
  ])
  func `an uninstall that names no token is refused`(document: String, sentence: String)
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      let refusal = try await store.refusal(of: document, by: "pushpool_uninstall")
      #expect(refusal == sentence)
    }
  }

  @Test(arguments: [
    (#"{"app":"s"}"#, "/user: is missing: an installation belongs to a user"),
    (#"{"user":"u"}"#, "/app: is missing: name the app of the configuration"),
    (#"{"app":"s","users":"u"}"#, #"/users: is not a known field; did you mean "user"?"#),
    ("[]", "must be an object, is an array"),
  ])
  func `a question for nobody's devices is refused`(document: String, sentence: String)
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      let refusal = try await store.refusal(of: document, by: "pushpool_devices")
      #expect(refusal == sentence)
    }
  }

  @Test(arguments: [
    (#"{"app":"s","topic":"news"}"#, "/user: is missing: name who subscribes"),
    (#"{"app":"s","user":"u1"}"#, "/topic: is missing: name the topic"),
    (
      #"{"app":"s","topic":"a b","user":"u1"}"#,
      "/topic: must be 1 to 64 ASCII letters, digits or _ -"
    ),
  ])
  func `what is wrong with a subscription is said with its field`(
    document: String, sentence: String
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      let refusal = try await store.refusal(of: document, by: "pushpool_subscribe")
      #expect(refusal?.hasPrefix(sentence) == true, "\(refusal ?? "taken")")
    }
  }

  @Test(arguments: [
    #"{"app":"s","topic":"news_1-A","user":"u1"}"#, #"{"app":"s","topic":"\#(x(64))","user":"ü"}"#,
    #"{"app":"s","topic":"\#(x(65))","user":"u1"}"#, #"{"app":"s","topic":"","user":"u1"}"#,
    #"{"app":"s","topic":"a b","user":"u1"}"#, #"{"app":"s","topic":"a:b","user":"u1"}"#,
    #"{"app":"s","topic":"é","user":"u1"}"#, #"{"app":"s","topic":7,"user":"u1"}"#,
    #"{"app":"s","topic":null,"user":"u1"}"#, #"{"app":"s","user":"u1"}"#,
    #"{"app":"s","topic":"news"}"#, #"{"topic":"news","user":"u1"}"#,
    #"{"app":"s","topic":"news","user":""}"#, #"{"app":"s","topics":"news","user":"u1"}"#,
    #"{"app":"a/b","topic":"a b","user":""}"#, "[]", "{", "",
  ])
  func `the functions take and refuse the same subscriptions as the program`(document: String)
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.registration.provide()
      for function in ["pushpool_subscribe", "pushpool_unsubscribe"] {
        let refusal = try await store.refusal(of: document, by: function)
        do {
          _ = try Subscription(bytes: Array(document.utf8))
          #expect(refusal == nil)
        } catch let error as InvalidField {
          #expect(refusal == error.description)
        }
      }
      #expect(try await store.allKeys() == [])
    }
  }
}
