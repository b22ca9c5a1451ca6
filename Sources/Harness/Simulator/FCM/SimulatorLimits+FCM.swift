// The limits of the simulated FCM.
extension SimulatorLimits {
  /// FCM: the largest notification and data, as it counts them.
  static let fcmMessageBytesMax = 4_096
  /// FCM: what it was seen to count for a message with one entry and for each entry, beside names and values.
  static let fcmFramingBytes = 39
  static let fcmEntryFramingBytes = 6
  static let fcmTokenBytesMax = 4_096
  /// Bearer tokens that live at a time; the oldest gives way.
  static let bearerTokensMax = 10_000
  package static let bearerLifetimeSeconds: Int64 = 3_600
}
