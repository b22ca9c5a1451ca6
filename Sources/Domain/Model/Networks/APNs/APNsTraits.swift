extension NetworkTraits {
  /// The Apple Push Notification service.
  static let apns = NetworkTraits(
    displayName: "APNs",
    hasAccountPerEnvironment: true,
    token: TokenRule(
      owner: "an APNs", name: "device token",
      // Hexadecimal digits; Apple says the length may change, so it is not fixed.
      bytes: 8...400,
      otherCharacters: "",
      checks: [hexadecimal, even],
      isLowercased: true,
      pattern: "^([0-9A-Fa-f]{2})+$"),
    absentToken: String(repeating: "0", count: 64),
    checksRequests: false,
    sendableField: "apns.payload")

  private static let hexadecimal = TokenRule.Check(
    words: "be hexadecimal digits only", lua: "wanted = '^%x+$'"
  ) { text in
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
      default: false
      }
    }
  }

  private static let even = TokenRule.Check(
    words: "have an even number of hexadecimal digits", lua: "is_even = true"
  ) { $0.utf8.count % 2 == 0 }
}
