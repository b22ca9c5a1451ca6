/// Every limit of the job model. A value over a limit is refused with a sentence that names the limit.
package enum Limits {
  // JSON
  /// Arrays and objects open at once.
  package static let jsonDepthMax = 64
  /// Values in one document: a million users and some content.
  package static let jsonValuesMax = 1_200_000
  package static let jsonNumberBytesMax = 64
  /// Bytes of a producer's text that an error message repeats.
  package static let quotedTextBytesMax = 64

  // Jobs
  package static let jobBytesMax = 16 * 1024 * 1024
  package static let jobIDBytesMax = 128
  package static let pushesPerSecondMax = 1_000_000
  /// 7 days.
  package static let spreadSecondsMax = 604_800
  /// 30 days; and a minute, in which whoever waits for the job sees its end.
  package static let retentionSecondsMax = 2_592_000
  package static let retentionSecondsMin = 60
  /// Receivers of a job to few, whose record is kept for less long than that of others.
  package static let fewReceiversMax = 100
  /// How long a trace is kept after its last event: TRACE_S in Store/Functions/Library/limits.lua.
  package static let traceSeconds = 172_800
  package static let usersPerJobMax = 1_000_000
  package static let installationsPerJobMax = 1_000_000
  /// The name of a Redis key.
  package static let usersKeyBytesMax = 512
  package static let appBytesMax = 64
  package static let topicBytesMax = 64
  package static let shardNameBytesMax = 32
  package static let userBytesMax = 256
  /// APNs: `apns-collapse-id` is at most 64 bytes.
  package static let collapseIDBytesMax = 64
  package static let apnsTopicBytesMax = 255
  /// FCM: `ttl` is at most four weeks.
  package static let ttlSecondsMax = 2_419_200
  package static let imageURLBytesMax = 2_048
  package static let soundBytesMax = 128
  package static let categoryBytesMax = 256
  package static let dataKeyBytesMax = 256
  /// Languages of one job: each is rendered for each network.
  package static let localizedTextsMax = 50
  /// Forms of placeholders that the texts of one job hold.
  package static let placeholdersMax = 64
  package static let variableNameBytesMax = 64
  /// All values that stand in the job; there can be any number in a `variables_key`.
  package static let variablesBytesMax = 64 * 1024
  /// Bytes that a `variables_key` holds of one user, and how many values.
  package static let userVariablesBytesMax = 16 * 1024
  package static let userVariablesMax = 4_096
  /// Bytes of each word of an event: a bucket, an object, who caused it.
  package static let eventTextBytesMax = 256
  /// A job's filter: bytes of JSON, values of one of its fields, and custom fields that it asks about.
  package static let filterBytesMax = 64 * 1024
  package static let filterValuesMax = 100
  package static let filterCustomFieldsMax = 16
  /// Numbers of a version that a filter names.
  package static let versionNumbersMax = 8
  /// Starts of one job: there are fewer offsets from UTC on a day and the next.
  package static let roundsMax = 200
  /// How far ahead a job may start: 365 days.
  package static let deliverAheadMsMax: Int64 = 365 * 86_400_000
  /// The widest badge a phone shows; APNs takes any 32-bit number.
  package static let badgeMax = 2_147_483_647
  /// 9999-12-31T23:59:59.999Z, the last instant RFC 3339 can write.
  package static let instantMsMax: Int64 = 253_402_300_799_999
  /// March 1973: epoch seconds of our days, read as milliseconds, lie below it.
  package static let recentInstantMsMin: Int64 = 100_000_000_000

  // Work
  package static let chunkRecipientsMax = 256
  /// Chunks of one job that exist at once; expansion waits above it.
  package static let segmentHighWaterMax = 256
  package static let attemptsMax = 8
  package static let retryBaseMs: UInt64 = 1_000
  /// APNs: after a 5xx back off from seconds up to 15 minutes.
  package static let retryCapMs: UInt64 = 900_000
  /// A provider's Retry-After beyond an hour is taken as an hour: no outage is known so long before, and what a broken server
  /// says must not hold a push for good.
  package static let retryAfterMsMax: UInt64 = 3_600_000

  // Installations
  package static let installationsPerUserMax = 100
  package static let installationBytesMax = 64 * 1024
  /// Values in the document of one: far more than its fields, channels and custom fields can be.
  package static let installationValuesMax = 1_000
  package static let objectIDBytesMax = 64
  package static let deviceTypeBytesMax = 64
  package static let appNameBytesMax = 256
  package static let versionBytesMax = 64
  package static let timeZoneBytesMax = 64
  /// BCP 47 tags in practice end long before this.
  package static let languageBytesMax = 35
  package static let channelsMax = 100
  package static let channelBytesMax = 64
  package static let customFieldsMax = 50
  package static let customNameBytesMax = 64
  package static let customValueBytesMax = 1_024
}
