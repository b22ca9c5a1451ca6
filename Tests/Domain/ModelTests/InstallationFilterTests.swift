import Testing

@testable import Model

@Suite struct InstallationFilterTests {
  static func filter(_ json: String) throws -> InstallationFilter {
    try InstallationFilter(json: try JSONParser().parse(json), at: "/filter")
  }

  private static func phone(
    _ change: (inout Installation) -> Void = { _ in }
  ) -> Installation {
    var phone = Installation(
      app: "shop", user: "u", token: DeviceToken(stored: "aa", network: .apns),
      device: Installation.Device(
        type: "phone", appVersion: "2.10", osVersion: "17.0.3", language: "zh-Hant-TW"),
      channels: ["news", "sport"],
      custom: ["plan": "pro", "empty": ""])
    change(&phone)
    return phone
  }

  private static func admits(_ json: String, _ installation: Installation) throws -> Bool {
    FilterMatcher(try filter(json)).admits(installation)
  }

  @Test(
    "each field holds of a value that it names",
    arguments: [
      (#"{"network":["fcm","apns"]}"#, true), (#"{"network":["fcm"]}"#, false),
      (#"{"environment":["production"]}"#, true), (#"{"environment":["development"]}"#, false),
      (#"{"device_type":["tablet","phone"]}"#, true), (#"{"device_type":["Phone"]}"#, false),
      (#"{"language":["ja","zh"]}"#, true), (#"{"language":["ZH_hant"]}"#, true),
      (#"{"language":["zh-Hant-TW"]}"#, true), (#"{"language":["zh-Hans"]}"#, false),
      (#"{"language":["zh-Hant-TW-x"]}"#, false), (#"{"language":["zha"]}"#, false),
      (#"{"channel":["weather","sport"]}"#, true), (#"{"channel":["spor"]}"#, false),
      (#"{"channel":["news\u00e9"]}"#, false),
      (#"{"custom":{"plan":["pro","max"]}}"#, true), (#"{"custom":{"plan":["free"]}}"#, false),
      (#"{"custom":{"plan":["pro"],"empty":[""]}}"#, true),
      (#"{"custom":{"plan":["pro"],"other":[""]}}"#, false),
      (#"{"app_version":{">=":"2.9","<":"3"}}"#, true), (#"{"app_version":{"=":"2.1"}}"#, false),
      (#"{"app_version":{"=":"2.10.0"}}"#, true), (#"{"app_version":{">":"2.10"}}"#, false),
      (#"{"app_version":{"<=":"2.10"}}"#, true), (#"{"app_version":{"<":"2.10"}}"#, false),
      (#"{"os_version":{">":"17"},"network":["apns"]}"#, true),
      (#"{"os_version":{">":"17"},"network":["fcm"]}"#, false),
    ])
  func fields(json: String, isAdmitted: Bool) throws {
    #expect(try Self.admits(json, Self.phone()) == isAdmitted)
    // Alone under `not` the same field says the opposite.
    if try Self.filter(json).required.count == 1 {
      #expect(try Self.admits(#"{"not":\#(json)}"#, Self.phone()) == !isAdmitted)
    }
  }

  @Test(
    "an installation that lacks a field meets no condition on it, and so does not fall under not",
    arguments: [
      #"{"device_type":[""]}"#.replacing("\"\"", with: "\"x\""), #"{"language":["ja"]}"#,
      #"{"time_zone":["Asia/Tokyo"]}"#, #"{"app_version":{">=":"0"}}"#,
      #"{"os_version":{"<":"99"}}"#, #"{"sdk_version":{"=":"0"}}"#, #"{"channel":["news"]}"#,
      #"{"custom":{"plan":[""]}}"#,
    ])
  func missing(json: String) throws {
    let bare = Installation(
      app: "shop", user: "u", token: DeviceToken(stored: "aa", network: .apns))
    #expect(try !Self.admits(json, bare))
    #expect(try Self.admits(#"{"not":\#(json)}"#, bare))
  }

  @Test("who falls under any field of not is left out, and a field may stand in both places")
  func not() throws {
    let json =
      #"{"network":["apns"],"not":{"custom":{"plan":["free"],"tier":["x"]},"channel":["off"]}}"#
    #expect(try Self.admits(json, Self.phone()))
    #expect(try !Self.admits(json, Self.phone { $0.custom["tier"] = "x" }))
    #expect(try !Self.admits(json, Self.phone { $0.custom["plan"] = "free" }))
    #expect(try !Self.admits(json, Self.phone { $0.channels.append("off") }))
    let both = #"{"app_version":{">=":"2"},"not":{"app_version":{">":"2.4","<":"2.6"}}}"#
    #expect(try Self.admits(both, Self.phone { $0.device.appVersion = "2.4" }))
    #expect(try !Self.admits(both, Self.phone { $0.device.appVersion = "2.5.9" }))
    #expect(FilterMatcher(try Self.filter(both)).recordFields == ["app_version"])
  }

  @Test(
    "versions are compared number by number",
    arguments: [
      ("2.9", "2.10"), ("2", "2.0.1"), ("0", "0.0.1"), ("9", "10"), ("2.1", "2.1.0.1"),
      ("1.99999999999999999", "2"), ("18446744073709551614", "18446744073709551615"),
    ])
  func versions(less: String, more: String) throws {
    let (less, more) = (try #require(DottedVersion(less)), try #require(DottedVersion(more)))
    #expect(less < more && !(more < less) && less != more)
  }

  @Test("of what an app calls its version the numbers at the front count")
  func leadingVersions() {
    func read(_ text: String) -> String? {
      Array(text.utf8).withUnsafeBytes { DottedVersion(leading: $0).map { "\($0)" } }
    }
    #expect(read("3.2.1-rc1") == "3.2.1" && read("4.2 (1234)") == "4.2" && read("7.") == "7")
    #expect(read("10.0.0") == "10" && read("0.0") == "0" && read("007.010") == "7.10")
    #expect(read("1.2.3.4.5.6.7.8.9.10") == "1.2.3.4.5.6.7.8.9.10" && read("1..2") == "1")
    #expect(read("v3") == nil && read("") == nil)
    #expect(read("1.99999999999999999999.2") == "1.18446744073709551615.2")
    for text in ["2.1-rc1", "2.", ".2", "", "2 ", "-1", "1.2.3.4.5.6.7.8.9"] {
      #expect(DottedVersion(text) == nil, "\(text)")
    }
    #expect(DottedVersion("1.2.3.4.5.6.7.8") != nil && DottedVersion("2.0") == DottedVersion("2"))
  }

  @Test(
    "what is wrong with a filter is said with its place and its rule",
    arguments: [
      ("[]", "/filter: must be an object, is an array"), ("null", "/filter: must be an object"),
      ("{}", "/filter: must hold a field: leave it out for the whole audience"),
      (#"{"not":{}}"#, "/filter/not: must hold a field: leave it out to exclude nobody"),
      (#"{"not":{"not":{}}}"#, "/filter/not/not: is not a known field"),
      (#"{"not":7}"#, "/filter/not: must be an object"),
      (#"{"languge":["ja"]}"#, "/filter/languge: is not a known field; did you mean \"language\"?"),
      (#"{"channels":["a"]}"#, "did you mean \"channel\"?"),
      (#"{"network":"apns"}"#, "/filter/network: must be an array, is a string"),
      (#"{"network":["apn"]}"#, "/filter/network/0: must be one of apns, fcm, jpush, is \"apn\""),
      (#"{"environment":["sandbox"]}"#, "/filter/environment/0: must be one of production"),
      (#"{"language":[]}"#, "/filter/language: must hold 1 to 100 values, holds 0"),
      (#"{"language":["ja","en us"]}"#, "/filter/language/1: is no language tag such as ja"),
      (#"{"device_type":[1]}"#, "/filter/device_type/0: must be a string, is a number"),
      (#"{"time_zone":[""]}"#, "/filter/time_zone/0: must not be empty"),
      (#"{"channel":["a\nb"]}"#, "/filter/channel/0: must not hold control characters"),
      (
        #"{"app_version":"2.1"}"#, "/filter/app_version: must be an object such as {\">=\": \"2.1\""
      ),
      (#"{"app_version":{}}"#, "/filter/app_version: must hold a version such as"),
      (#"{"app_version":{">=":2.1}}"#, "/filter/app_version/>=: must be a string, is a number"),
      (#"{"app_version":{"=>":"2"}}"#, "/filter/app_version/=>: is not a known field"),
      (#"{"os_version":{"<":"2.x"}}"#, "/filter/os_version/<: must be 1 to 8 numbers with dots"),
      (#"{"custom":{}}"#, "/filter/custom: must hold 1 to 16 fields, holds 0"),
      (#"{"custom":{"plan":"pro"}}"#, "/filter/custom/plan: must be an array, is a string"),
      (#"{"custom":{"a b":["x"]}}"#, "/filter/custom/a b: is no custom field: its name is 1 to 64"),
      (#"{"not":{"custom":{"plan":[]}}}"#, "/filter/not/custom/plan: must hold 1 to 100 values"),
    ])
  func refusals(json: String, expected: String) {
    do throws(any Error) {
      _ = try Self.filter(json)
      Issue.record("it was taken: \(json)")
    } catch {
      #expect("\(error)".hasPrefix(expected) || "\(error)".contains(expected), "\(error)")
    }
  }

  @Test("a filter is bounded as a whole")
  func bounds() {
    let long = String(repeating: "x", count: 1_024)
    let values = (0..<100).map { "\"\($0)\(long.dropLast(3))\"" }.joined(separator: ",")
    #expect(throws: InvalidField.self) { try Self.filter(#"{"custom":{"a":[\#(values)]}}"#) }
    #expect(throws: InvalidField.self) { try Self.filter(#"{"custom":{"a":["\#(long)x"]}}"#) }
    #expect(throws: Never.self) { try Self.filter(#"{"custom":{"a":["\#(long)"]}}"#) }
  }

  @Test("a filter is part of the content: it survives the way through Redis, and tells jobs apart")
  func roundTrip() throws {
    func content(_ filter: String) throws -> JobContent {
      try JobTests.job(#""notification":{"body":"B"},"filter":\#(filter)"#).content
    }
    let all = #"""
      {"network":["fcm","apns"],"environment":["production"],"device_type":["é"],"language":["zh_TW"],
       "time_zone":["Asia/Tokyo"],"app_version":{"<":"3.0",">=":"2.10"},"os_version":{"=":"0"},
       "sdk_version":{">":"1","<=":"2"},"channel":["news"],"custom":{"b":["2","1"],"a":[""]},
       "not":{"network":["jpush"],"custom":{"c":["x"]}}}
      """#
    for json in [all, #"{"network":["apns"]}"#, #"{"not":{"language":["ja"]}}"#] {
      let content = try content(json)
      let bytes = content.canonicalBytes()
      #expect(try JobContent(bytes: bytes) == content)
      #expect(try JobContent(bytes: bytes).canonicalBytes() == bytes)
    }
    let same = try content(#"{"custom":{"a":["x","x"],"b":["y"]},"app_version":{"=":"2.0"}}"#)
    #expect(
      try content(#"{"app_version":{"=":"2"},"custom":{"b":["y"],"a":["x"]}}"#).canonicalBytes()
        == same.canonicalBytes())
    for other in [#"{"custom":{"a":["x"],"b":["y"]}}"#, #"{"custom":{"a":["y"]}}"#] {
      #expect(try content(other).canonicalBytes() != same.canonicalBytes())
    }
  }
}
