/// Limits of the configuration.
package enum ConfigurationLimits {
  package static let fileBytesMax = 16 * 1024 * 1024
  package static let secretFileBytesMax = 64 * 1024
  /// Errors of one configuration that are told; the rest is counted.
  package static let errorsMax = 100
  package static let appsMax = 10_000
  // Apps in Redis
  /// As many as in a file.
  package static let redisAppsMax = 10_000
  /// Files of keys that seal the secrets of apps in Redis: the newest, and those before it.
  package static let appKeysMax = 8
  /// A key, an account, a certificate with its chain, or a password.
  package static let appSecretBytesMax = 16 * 1024
  package static let appAuthoritiesBytesMax = 32 * 1024
  /// All of an app as somebody gives it.
  package static let appDocumentBytesMax = 96 * 1024
  /// Values in it.
  package static let appDocumentValuesMax = 1_000
  package static let pathBytesMax = 4_096
  /// A user's name in SOCKS5 is that long at most (RFC 1929, 2).
  package static let proxyUserBytesMax = 255
  package static let prefixBytesMax = 64
  /// Each has lanes of its own in every worker.
  package static let shardsMax = 64
  /// Sentinels, or nodes of a cluster, that a URL names.
  package static let redisHostsMax = 16
  /// The name that sentinels know a master by.
  package static let masterNameBytesMax = 128
  package static let lanesMax = 1_024
  package static let connectionsPerLaneMax = 64
  package static let streamsPerConnectionMax = 10_000
  package static let drainSecondsMax = 3_600
  package static let leaseSecondsMax = 3_600
  package static let requestTimeoutSecondsMax = 600
  package static let unroutedSecondsMax = 86_400
  /// 7 days.
  package static let retentionHoursUsual = 168
  /// Of jobs to few, with an id of their own and without one.
  package static let namedRetentionHoursUsual = 24
  package static let unnamedRetentionMinutesUsual = 60
  /// 30 days.
  package static let retentionHoursMax = 720
  /// Google's quota for a project that asked for no other.
  package static let fcmMessagesPerMinuteUsual = 600_000
  package static let fcmMessagesPerMinuteMax = 100_000_000
  package static let pushesPerSecondMax = 1_000_000
  /// More than an app's data change by themselves, and few enough for a loop to do little harm.
  package static let eventsPerMinuteUsual = 600
  package static let eventsPerMinuteMax = 1_000_000
  /// Redis' own default is 16; a server may be configured for more.
  package static let databaseMax = 65_535
  // Serve
  package static let userTokensMax = 1_000
  /// The `kid` of a user's token.
  package static let keyIDBytesMax = 64
  package static let trustedProxiesMax = 64
  /// The longest text of an IP address (INET6_ADDRSTRLEN), with a little room.
  static let addressBytesMax = 64
  /// tzdata has some 600 names, of 4 KiB at most.
  static let timeZonesMax = 2_000
  static let timeZoneBytesMax = 64 * 1024
  static let timeZoneVersionBytesMax = 64
  /// Bytes of a field's name that a message repeats: longer ones are none.
  static let nameBytesMax = 40
}
