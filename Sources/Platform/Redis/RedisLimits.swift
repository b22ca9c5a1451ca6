/// The limits of one Redis connection.
package enum RedisLimits {
  /// Commands sent and not yet answered.
  package static let pendingCommandsMax = 8_192
  /// Bytes that may wait to be written; one command must fit as a whole.
  package static let outputBytesMax = 32 * 1024 * 1024
  /// One reply: a peer that announces more is not a Redis that this program talks to.
  package static let replyBytesMax = 64 * 1024 * 1024
  /// How much more room a reply may take in memory than `replyBytesMax`.
  static let replyMemoryFactorMax = 4
  /// Elements of one array in a reply.
  package static let replyElementsMax = 1_048_576
  /// Arrays inside one another in a reply. The deepest that is asked for has 4; every hiredis can read 8.
  static let replyDepthMax = 7
  package static let connectTimeoutMs: UInt64 = 5_000
  package static let commandTimeoutMs: UInt64 = 5_000
  /// Reconnecting: the first delay, doubled up to the last, each with jitter.
  package static let reconnectMsMin: UInt64 = 50
  package static let reconnectMsMax: UInt64 = 1_000
  /// How often in a row a node of a cluster may name another one before the configured address is asked again.
  static let redirectionsMax = 4
  /// How long sentinels may take to say where a master is, connecting included.
  package static let sentinelAnswerMs: UInt64 = 1_000
  /// How long what they have said is taken for true by other connections of the process.
  static let sentinelFreshMs: UInt64 = 200
  /// From one look whether they still name the master that a connection works with to the next.
  static let sentinelLookMs: UInt64 = 5_000
  /// Names of sentinels that are looked up at a time: twice as many as a URL names (ConfigurationLimits.redisHostsMax). A thread
  /// each, only while there is something to look up.
  static let sentinelLookUpsMax = 32
  /// The name of a host (RFC 1035, 2.3.4).
  static let hostBytesMax = 253
  /// A connection that lived for less counts as one more failed attempt.
  static let healthyMs: UInt64 = 2_000
  /// For how long the least of the round trips is remembered, once or twice.
  static let roundTripsNs: UInt64 = 500_000_000
  /// The buckets in which answer times are counted, in microseconds.
  static let answerBoundsUs: [UInt64] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000,
  ]
  /// The latest time that TIME may say: the end of the year 9999.
  static let epochSecondsMax = 253_402_300_799
}
