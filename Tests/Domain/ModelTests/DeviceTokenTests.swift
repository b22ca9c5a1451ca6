import Model
import Testing

@Suite struct DeviceTokenTests {
  @Test("APNs tokens compare without case and have no fixed length")
  func apns() throws {
    let one = try DeviceToken("ABCDEF0123456789", network: .apns)
    #expect(one == (try DeviceToken("abcdef0123456789", network: .apns)))
    #expect(one.text == "abcdef0123456789")
    for count in [8, 64, 160, 400] {
      #expect(throws: Never.self) {
        try DeviceToken(String(repeating: "a", count: count), network: .apns)
      }
    }
  }

  @Test("FCM tokens keep their case")
  func fcm() throws {
    let one = try DeviceToken("cAbc_d-e:APA91b%~=+.x", network: .fcm)
    #expect(one.text == "cAbc_d-e:APA91b%~=+.x")
    #expect(one != (try DeviceToken("cabc_d-e:apa91b%~=+.x", network: .fcm)))
  }

  @Test("a token whose network is not said is one of each network that could have it")
  func candidates() throws {
    #expect(try DeviceToken.candidates("ABCDEF01").map(\.network) == [.apns, .fcm, .jpush])
    #expect(try DeviceToken.candidates("cX1:token").map(\.network) == [.fcm])
    #expect(throws: InvalidField.self) { try DeviceToken.candidates("no token") }
  }

  @Test("a part of a token is too little to send to")
  func shortened() throws {
    let token = String(repeating: "00ff", count: 16)
    #expect(try DeviceToken(token, network: .apns).shortened == "00ff00ff…")
    #expect(try DeviceToken("140fe1da9ea", network: .jpush).shortened == "140fe…")
    #expect(try DeviceToken("140f", network: .jpush).shortened == "14…")
  }

  @Test("the same text on two networks is two tokens")
  func networks() throws {
    #expect(
      try DeviceToken("abcdef01", network: .apns) != DeviceToken("abcdef01", network: .fcm))
    #expect(
      try DeviceToken("abcdef01", network: .jpush)
        == DeviceToken(stored: "abcdef01", network: .jpush))
  }

  @Test(
    "a character that nobody sees is none of a token's, and the rule says so",
    arguments: ["\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{301}"],
    [
      (Network.apns, "hexadecimal digits only"), (.fcm, "letters, digits and _ : - . % ~ = + only"),
      (.jpush, "letters and digits only"),
    ])
  func invisible(mark: String, rule: (network: Network, words: String)) {
    for text in ["\(mark)abcdef01", "abcd\(mark)ef01", "abcdef01\(mark)", "abcde\(mark)\(mark)f01"]
    {
      let error = #expect(throws: InvalidField.self) {
        try DeviceToken(text, network: rule.network)
      }
      #expect(error?.message.contains(rule.words) == true, "\(error?.message ?? "")")
    }
  }

  @Test(
    "no token can leave its path, its header or its key",
    arguments: [
      "", "a", "aabb/ccdd", "aabb?ccdd", "aabb#ccdd", "../../../etc", "aabb ccdd", "aabb\r\nccdd",
      "aabbccdd\n", "aabbccdd\0", "aabbccdé", "aabb\tccdd", "aabb\\ccdd", "aabb\"ccdd",
      "aabb{ccdd}", "aabb|ccdd", "aa..ccdd", String(repeating: "a", count: 4_097),
    ], Network.allCases)
  func hostile(text: String, network: Network) {
    let error = #expect(throws: InvalidField.self) { try DeviceToken(text, network: network) }
    #expect(error?.pointer == "/token")
    if text.utf8.count > 1, text.utf8.count < 100 {
      #expect(error?.message.contains(text) == false, "a token is not repeated")
    }
  }

  @Test(
    "APNs tokens are hexadecimal and of even length",
    arguments: [
      "abcdefg0", "abcdef012", "abcdef0", "abcdef", "abcdef-1",
      String(repeating: "a", count: 402),
    ])
  func badAPNs(text: String) {
    #expect(throws: InvalidField.self) { try DeviceToken(text, network: .apns) }
  }
}
