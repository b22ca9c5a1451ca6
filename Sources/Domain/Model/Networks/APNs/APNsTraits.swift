extension NetworkTraits {
  /// The Apple Push Notification service.
  static let apns = NetworkTraits(
    displayName: "APNs",
    hasAccountPerEnvironment: true,
    token: TokenRule(
      of: "an APNs", named: "device token",
      // Hexadecimal digits; Apple says the length may change, so it is not fixed.
      bytes: 8...400,
      checks: [.hexadecimal, .evenCount],
      pattern: "^([0-9A-Fa-f]{2})+$"),
    absentToken: String(repeating: "0", count: 64),
    checksRequests: false,
    sendableField: "apns.payload")
}
