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
  /// The sources of credentials, and what else accounts of a network have in common, by what it is made of.
  var shared: [MaterialDigest: any Sendable] = [:]
  /// The messages a minute that networks allow an account, as the configuration says it of each; by the name of its rate.
  var quotas: [String: Int] = [:]

  /// The sources of the tokens that a fleet agrees on.
  var tokenSources: [any SharedTokenSource] {
    shared.values.compactMap { $0 as? any SharedTokenSource }
  }

  /// Takes from a former directory what one of its entries is made with, unless it is here.
  mutating func take(_ names: SourceNames, from former: ProviderSources) {
    for name in names.shared { shared[name] = shared[name] ?? former.shared[name] }
    takeTrust(names.authorities, from: former)
  }

  /// - Parameter authorities: nil for the system's alone.
  mutating func takeTrust(_ authorities: MaterialDigest?, from former: ProviderSources) {
    trust[authorities] = trust[authorities] ?? former.trust[authorities]
    contexts[authorities] = contexts[authorities] ?? former.contexts[authorities]
    if let authorities { pem[authorities] = pem[authorities] ?? former.pem[authorities] }
  }
}

/// The names of the sources that an entry of a directory is made with.
struct SourceNames: Sendable {
  var shared: [MaterialDigest] = []
  /// Nil for the system's alone.
  var authorities: MaterialDigest?
}
