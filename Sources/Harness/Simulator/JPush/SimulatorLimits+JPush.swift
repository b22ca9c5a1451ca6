// The limits of the simulated JPush.
extension SimulatorLimits {
  /// JPush: the member `ios` of a notification, name and braces included.
  static let jpushIOSBytesMax = 2_000
  /// JPush: the Android notification and the message together.
  static let jpushAndroidBytesMax = 4_000
  static let jpushRegistrationIDsMax = 1_000
  static let jpushRegistrationIDBytesMax = 128
  static let jpushTimeToLiveSecondsMax: Int64 = 864_000
  /// JPush's accepted requests with a cid that are remembered; the oldest gives way.
  static let jpushCIDsMax = 10_000
  /// JPush: calls of an app key in a minute; its free plan has 600.
  package static let jpushCallsPerMinute = 1_000_000_000
}
