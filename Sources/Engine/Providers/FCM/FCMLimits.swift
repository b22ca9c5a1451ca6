/// Bounds that FCM sets.
enum FCMLimits {
  /// Notification and data together.
  static let payloadBytesMax = 4_096
  /// FCM documentation, "Retry throttled requests": at least a minute after QUOTA_EXCEEDED.
  static let quotaRetryMsMin: UInt64 = 60_000
  /// FCM documentation, "Best practices when sending at scale": ramp up rather than step.
  static let rampMs: UInt64 = 10_000
  /// FCM documentation, "Handle retries": at least ten seconds after UNAVAILABLE and INTERNAL.
  static let troubleRetryMsMin: UInt64 = 10_000
}
