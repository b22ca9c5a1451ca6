import HTTP2

/// Bounds that the push networks set, and bounds on what is read of their answers.
package enum ProviderLimits {
  /// APNs: "Generating a remote notification".
  package static let apnsPayloadBytesMax = 4_096
  package static let apnsVoIPPayloadBytesMax = 5_120
  /// FCM: notification and data together.
  package static let fcmPayloadBytesMax = 4_096
  /// JPush, "Push API v3": the member `ios` of a notification, name and braces included.
  package static let jpushIOSBytesMax = 2_000
  /// JPush, "Push API v3": the Android notification and the message together.
  package static let jpushAndroidBytesMax = 4_000
  /// JPush, "Push API v3": registration IDs of one request.
  static let jpushPushesPerRequest = 1_000
  /// Requests to more than these that JPush has no target for are not split: each half of them would be a call, of which
  /// its free plan has 600 a minute.
  static let jpushGoneTogetherMax = 64
  /// JPush, "How to implement numeric badges".
  static let jpushBadgeMax = 99
  /// JPush, "Push API v3": a message is kept for ten days at most.
  static let jpushTimeToLiveSecondsMax: Int64 = 864_000
  /// JPush, "REST API overview": calls are counted by the minute.
  static let jpushRateWindowMs: UInt64 = 60_000

  /// The most bytes of a plain job that is surely within every network's limits. Each of its texts stands there once,
  /// no longer than in the job, beside names of a few hundred bytes.
  static let plainJobBytesMax = 1_024

  /// Networks and environments of all apps together.
  static let entriesMax = 32_767
  /// Numbers that entries of a process may have had. Each lane keeps a table of so many places.
  static let entryNumbersMax = 500_000

  /// An answer longer than this is judged by its status alone.
  package static let answerBytesMax = HTTP2Limits.answerBodyBytesMax
  /// Bytes that are shown of the text of an answer that is not the network's.
  static let shownBodyBytesMax = 80
  static let answerDepthMax = 16
  static let answerValuesMax = 512

  /// FCM documentation, "Retry throttled requests": at least a minute after QUOTA_EXCEEDED.
  static let fcmQuotaRetryMsMin: UInt64 = 60_000
  /// FCM documentation, "Best practices when sending at scale": ramp up rather than step.
  static let fcmRampMs: UInt64 = 10_000
  /// FCM documentation, "Handle retries": at least ten seconds after UNAVAILABLE and INTERNAL.
  static let fcmTroubleRetryMsMin: UInt64 = 10_000
}
