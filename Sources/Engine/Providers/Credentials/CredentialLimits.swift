/// Bounds and periods of credentials.
package enum CredentialLimits {
  /// How long before its end a certificate is an alarm.
  package static let certificateNoticeMs: Int64 = 30 * 86_400_000

  /// No credential pauses for longer, whatever a token's date says.
  package static let pauseMsMax: Int64 = 20 * 60_000
  /// How long what a network refuses is left alone while nothing may renew it: at first, and at most.
  package static let refusedPauseMsMin: Int64 = 1_000
  package static let refusedPauseMsMax: Int64 = 60_000
  /// Refusals that come so long after a pause are not of what was refused before it.
  static let refusalsApartMs: Int64 = 2 * 60_000
  /// A shared token that was issued further in the future is from a clock that is wrong, and is replaced at once.
  static let futureMsMax: Int64 = 30_000

  /// APNs refuses a token older than an hour.
  package static let apnsTokenLifeMs: Int64 = 60 * 60_000
  package static let apnsRefreshAfterMs: Int64 = 50 * 60_000
  /// A token that cannot be renewed is used for so long: a minute less than it lives, for what is on its way.
  static let apnsLastUseMs = apnsTokenLifeMs - 60_000
  /// APNs answers TooManyProviderTokenUpdates to tokens renewed more often than this.
  package static let apnsRefreshIntervalMsMin: Int64 = 20 * 60_000

  /// Google's limit for the assertion that is exchanged.
  package static let fcmAssertionLifeMs: Int64 = 60 * 60_000
  /// A token is replaced this long before it expires.
  package static let fcmRefreshEarlyMs: Int64 = 5 * 60_000
  /// No token is believed to live longer, whatever `expires_in` says.
  package static let fcmTokenLifeMsMax: Int64 = 24 * 60 * 60_000
  package static let exchangeTimeoutMs = 10_000
  package static let exchangeBackOffMsMin: Int64 = 1_000
  package static let exchangeBackOffMsMax: Int64 = 5 * 60_000
  /// Bearer tokens in practice are about 1,000 bytes.
  package static let accessTokenBytesMax = 8 << 10
}
