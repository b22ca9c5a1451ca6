package import Model

/// Where Redis is and which keys are ours.
package struct RedisConfiguration: Sendable, Equatable {
  package static let prefixDefault = "pushpool"

  package var url: RedisURL
  /// A file with the password, in place of one in the URL.
  package var passwordFile: String?
  /// PEM certificates of authorities to trust for `rediss://`, beside the system's.
  package var caFile: String?
  package var prefix: String
  /// Risks that the operator takes knowingly: no alarm tells of them, and no worker refuses to start for them.
  package var acceptedRisks: Set<RedisRisk>

  package init(
    url: RedisURL = RedisURL(
      server: .tcp(host: "127.0.0.1", port: RedisURL.defaultPort, tls: false)),
    passwordFile: String? = nil, caFile: String? = nil, prefix: String = Self.prefixDefault,
    acceptedRisks: Set<RedisRisk> = []
  ) {
    self.url = url
    self.passwordFile = passwordFile
    self.caFile = caFile
    self.prefix = prefix
    self.acceptedRisks = acceptedRisks
  }

  /// The password of the URL or of the password file; nil when there is neither.
  package func password() throws(ConfigurationError) -> Secret? {
    guard let passwordFile else { return url.password }
    return try SecretFile.read(passwordFile, field: "redis.password_file")
  }
}
