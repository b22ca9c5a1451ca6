internal import Reactor

/// The parts that providers have in common: apps with the same key, account or secret have one source of credentials, and apps by
/// the thousand trust the same authorities. The sources of a directory outlive it where the next one needs them.
struct ProviderSources: Sendable {
  /// By authorities; nil for the system's alone.
  var trust: [MaterialDigest?: TrustStore] = [:]
  /// The contexts of those that show no certificate.
  var contexts: [MaterialDigest?: TLSContext] = [:]
  /// Authorities in PEM, for token exchanges over libcurl.
  var pem: [MaterialDigest: [UInt8]] = [:]
  var accounts: [MaterialDigest: ServiceAccount] = [:]
  var apns: [MaterialDigest: APNsTokenSource] = [:]
  var fcm: [MaterialDigest: FCMTokenSource] = [:]
  /// The messages a minute that FCM's projects allow, as the configuration says it of each; by project.
  var quotas: [String: Int] = [:]
  var jpush: [MaterialDigest: JPushCredentialSource] = [:]

  /// Each APNs key's tokens, and each service account's.
  var tokenSources: [any SharedTokenSource] { Array(apns.values) + Array(fcm.values) }
}
