import Model
import Testing

@testable import CommandLineInterface

/// What becomes of the fields of other services.
@Suite struct ForeignMappingTests {
  private typealias Taken = (installation: Installation, leftOut: [ForeignMapping.LeftOut])

  private func take(
    _ text: String, _ fields: ForeignFields = .parse, userField: String = "user"
  ) throws -> Taken {
    let object = try #require(try JSONParser().parse(text).objectValue)
    return try ForeignMapping(
      fields: fields, app: "shop", userField: userField, environment: .production
    ).installation(of: object)
  }

  /// An installation that has all it needs, with more members.
  private func android(_ members: String) -> String {
    #"{"deviceType":"android","deviceToken":"cX1:token","user":"ann"\#(members)}"#
  }

  private func refusal(_ text: String) -> String {
    do {
      _ = try take(text)
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test("an installation of Parse keeps each field that pushpool has, and its own ones as text")
  func parse() throws {
    let (installation, leftOut) = try take(
      #"""
      {"objectId": "p1", "createdAt": "2026-01-02T03:04:05.678Z",
       "updatedAt": {"__type": "Date", "iso": "2026-02-03T04:05:06.789Z"},
       "deviceType": "ios", "deviceToken": "00FF00FF", "installationId": "i-1",
       "user": {"__type": "Pointer", "className": "_User", "objectId": "ann"},
       "channels": ["", "giants"], "badge": 3, "timeZone": "Asia/Tokyo",
       "localeIdentifier": "zh-Hans_CN", "appName": "Shop", "appVersion": "2.1",
       "parseVersion": "5.0", "favourite": 7.5, "isTester": true, "nothing": null,
       "GCMSenderId": "1", "deviceTokenLastModified": 1, "ACL": {}, "_rperm": ["*"]}
      """#)
    #expect(leftOut == [])
    var expected = Installation(
      app: "shop", user: "ann", token: try DeviceToken("00ff00ff", network: .apns),
      objectID: "p1",
      device: Installation.Device(
        type: "ios", appName: "Shop", appVersion: "2.1", sdkVersion: "5.0",
        timeZone: "Asia/Tokyo", language: "zh-Hans-CN"),
      channels: ["giants"],
      custom: ["installationId": "i-1", "favourite": "7.5", "isTester": "true"])
    expected.badge = 3
    expected.createdAtMs = 1_767_323_045_678
    expected.updatedAtMs = 1_770_091_506_789
    #expect(installation == expected)
  }

  @Test("what mongoexport writes is the same installation")
  func mongoexport() throws {
    let installation = try take(
      #"""
      {"_id": "p1", "_created_at": {"$date": "2026-01-02T03:04:05.678Z"},
       "_updated_at": {"$date": {"$numberLong": "1770091506789"}}, "deviceType": "android",
       "pushType": "gcm", "deviceToken": "cX1:token", "_p_user": "_User$ann",
       "badge": {"$numberInt": "3"}, "_wperm": [], "_acl": {}}
      """#
    ).installation
    #expect(installation.objectID == "p1")
    #expect(installation.user == "ann")
    #expect(installation.token.network == .fcm)
    #expect(installation.createdAtMs == 1_767_323_045_678)
    #expect(installation.updatedAtMs == 1_770_091_506_789)
    #expect(installation.badge == 3)
    #expect(installation.custom == [:])
  }

  @Test("an installation of NCMB keeps each field that pushpool has")
  func ncmb() throws {
    let (installation, leftOut) = try take(
      #"""
      {"objectId":"n1","createDate":"2023-01-02T03:04:05.678Z",
       "updateDate":"2023-02-03T04:05:06.789Z","acl":null,"applicationName":"Shop",
       "appVersion":"1.0","badge":0,"channels":[],"deviceToken":"00ff00ff","deviceType":"ios",
       "sdkVersion":"3.2.1","timeZone":"Asia/Tokyo","user":"taro","parseVersion":"mine"}
      """#, .ncmb)
    #expect(leftOut == [])
    #expect(installation.objectID == "n1")
    #expect(installation.device.appName == "Shop")
    #expect(installation.device.appVersion == "1.0")
    #expect(installation.device.sdkVersion == "3.2.1")
    #expect(installation.badge == 0)
    #expect(installation.leavesChannels)
    #expect(installation.createdAtMs == 1_672_628_645_678)
    #expect(installation.updatedAtMs == 1_675_397_106_789)
    #expect(installation.custom == ["parseVersion": "mine"])
  }

  @Test(
    "the network is that of the token",
    arguments: [
      (#""ios""#, "00ff00ff", Network.apns), (#""ios","pushType":null"#, "00ff00ff", .apns),
      (#""ios""#, "cX1:token", .fcm), (#""ios","pushType":"fcm""#, "cX1-token", .fcm),
      (#""android""#, "cX1:token", .fcm), (#""android","pushType":"fcm""#, "cX1:token", .fcm),
      (#""fcm""#, "cX1:token", .fcm),
    ])
  func network(type: String, token: String, network: Network) throws {
    let taken = try take(#"{"deviceType":\#(type),"deviceToken":"\#(token)","user":"ann"}"#)
    #expect(taken.installation.token.network == network)
  }

  @Test("a user is a pointer, a string or a number of the field that was named")
  func user() throws {
    let text = android(#","installationId":"i-1","account":12,"_p_owner":"Person$eve""#)
    #expect(try take(text).installation.user == "ann")
    let device = try take(text, userField: "installationId").installation
    #expect(device.user == "i-1")
    #expect(device.custom == ["account": "12", "user": "ann"])
    #expect(try take(text, userField: "account").installation.user == "12")
    #expect(try take(text, userField: "owner").installation.user == "eve")
  }

  @Test(
    "a user that is a whole number is its digits, however it is written",
    arguments: [
      ("17", "17"), ("17.0", "17"), ("-3.00", "-3"), ("1.7e1", "17"), ("170E-1", "17"),
      ("12345678901234567890", "12345678901234567890"),
      ("9007199254740991.0", "9007199254740991"), ("17.5", nil), ("9007199254740993.0", nil),
      ("1e300", nil),
    ] as [(String, String?)])
  func numberedUser(text: String, user: String?) throws {
    let installation = #"{"deviceType":"android","deviceToken":"cX1:token","user":\#(text)}"#
    guard let user else {
      #expect(
        refusal(installation)
          == "its user is a number with a fraction or an exponent that names nobody")
      return
    }
    #expect(try take(installation).installation.user == user)
  }

  @Test("an installation that nothing can be sent to, or of nobody, is refused with the reason")
  func refused() {
    #expect(refusal("{}") == "it has no deviceType")
    #expect(refusal(#"{"deviceType":"ios","user":"a"}"#) == "it has no deviceToken")
    #expect(
      refusal(#"{"deviceType":"ios","deviceToken":"","user":"a"}"#) == "it has no deviceToken")
    let token = #""deviceToken":"00ff00ff""#
    #expect(refusal(#"{"deviceType":"winrt",\#(token),"user":"a"}"#) == "its deviceType is winrt")
    #expect(
      refusal(#"{"deviceType":"android","pushType":"ppns",\#(token),"user":"a"}"#)
        == "its pushType is ppns")
    #expect(refusal(#"{"deviceType":"ios",\#(token)}"#) == "it has no user")
    #expect(refusal(#"{"deviceType":"ios",\#(token),"user":null}"#) == "it has no user")
    #expect(
      refusal(#"{"deviceType":"ios",\#(token),"user":["a"]}"#)
        == "its user is an array that names nobody")
    #expect(
      refusal(#"{"deviceType":"ios",\#(token),"user":"a\u0007"}"#)
        == "its user: must not hold control characters")
    #expect(
      refusal(#"{"deviceType":"ios","deviceToken":"xyzxyzxyz","user":"a"}"#)
        == "its deviceToken: an APNs device token must be hexadecimal digits only")
  }

  @Test("a field that breaks a rule is left out, and the others stay")
  func leftOut() throws {
    let (installation, leftOut) = try take(
      android(
        #"""
        ,"badge":-1,"timeZone":"GMT 9","appVersion":"2.1","channels":[1],"appName":"",
        "updatedAt":"yesterday","home":{"x":1},"tags":["a"],"bad name":"x","good":"y",
        "long":"\#(String(repeating: "x", count: 1_025))"
        """#))
    #expect(
      Set(leftOut.map(\.field))
        == ["badge", "timeZone", "channels", "updatedAt", "home", "tags", "bad name", "long"])
    #expect(leftOut.first { $0.field == "home" }?.reason == "is an object")
    #expect(leftOut.first { $0.field == "badge" }?.reason.contains("is -1") == true)
    #expect(installation.device.appVersion == "2.1")
    #expect(installation.custom == ["good": "y"])
    #expect(installation.badge == nil)
  }

  @Test("of more custom fields than an installation may have the first ones are kept")
  func tooManyCustomFields() throws {
    let more = (0..<52).map { ",\"f\($0)\":\"x\"" }.joined()
    let (installation, leftOut) = try take(android(more))
    #expect(installation.custom.count == 50)
    #expect(leftOut.map(\.field) == ["f50", "f51"])
  }

  @Test("a report names the most frequent reasons first, and a bounded number of them")
  func bounded() {
    var tally = ReasonTally()
    for index in 0..<25 { tally.add("reason \(index)", example: "e\(index)") }
    tally.add("reason 3", example: "later")
    #expect(tally.lines.count == 21)
    #expect(tally.lines.first == "  2: reason 3 (the first: e3)")
    #expect(tally.lines.last == "  5: other reasons")
  }
}
