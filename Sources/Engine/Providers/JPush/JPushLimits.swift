/// Bounds that JPush sets; where nothing else is said, in "Push API v3".
enum JPushLimits {
  /// The member `ios` of a notification, name and braces included.
  static let iosBytesMax = 2_000
  /// The Android notification and the message together.
  static let androidBytesMax = 4_000
  /// Registration IDs of one request.
  static let pushesPerRequest = 1_000
  /// Requests to more than these that JPush has no target for are not split: each half of them would be a call, of which
  /// its free plan has 600 a minute.
  static let goneTogetherMax = 64
  /// JPush, "How to implement numeric badges".
  static let badgeMax = 99
  /// A message is kept for ten days at most.
  static let timeToLiveSecondsMax: Int64 = 864_000
  /// JPush, "REST API overview": calls are counted by the minute.
  static let rateWindowMs: UInt64 = 60_000
}
