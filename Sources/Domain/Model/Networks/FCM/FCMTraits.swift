extension NetworkTraits {
  /// Firebase Cloud Messaging.
  static let fcm = NetworkTraits(
    displayName: "FCM",
    hasAccountPerEnvironment: false,
    token: TokenRule(
      of: "an FCM", named: "registration token",
      bytes: 8...4_096,
      checks: [.word(others: "_:-.%~=+"), .noPair(of: ".")],
      pattern: "^[A-Za-z0-9_:%~=+-]+(\\.[A-Za-z0-9_:%~=+-]+)*\\.?$"),
    absentToken: "pushpool-doctor:no-such-device",
    checksRequests: true,
    sendableField: "fcm")
}
