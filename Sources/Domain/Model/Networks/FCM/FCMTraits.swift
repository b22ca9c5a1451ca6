extension NetworkTraits {
  /// Firebase Cloud Messaging.
  static let fcm = NetworkTraits(
    displayName: "FCM",
    hasAccountPerEnvironment: false,
    token: TokenRule(
      owner: "an FCM", name: "registration token",
      bytes: 8...4_096,
      otherCharacters: "\(others)",
      checks: [.word(others: others), noDots],
      pattern: "^\\.?[A-Za-z0-9_:%~=+-]+(\\.[A-Za-z0-9_:%~=+-]+)*\\.?$"),
    absentToken: "pushpool-doctor:no-such-device",
    checksRequests: true,
    sendableField: "fcm")

  private static let others: StaticString = "_:-.%~=+"

  private static let noDots = TokenRule.Check(
    words: "not hold \"..\"", lua: "unwanted = '%.%.'"
  ) { text in
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "."), previous == byte { return false }
      previous = byte
    }
    return true
  }
}
