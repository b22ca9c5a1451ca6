/// How to log in at sentinels, which have users, passwords and certificates of their own.
package struct SentinelLogin: Sendable, Equatable {
  static let fields = ["sentinel_user", "sentinel_password_file", "sentinel_ca_file"]

  /// The ACL user of the sentinels; nil for `default`.
  package var user: String?
  package var passwordFile: String?
  /// PEM certificates of authorities to trust for `rediss+sentinel://`; nil for those of Redis.
  package var caFile: String?

  package init(user: String? = nil, passwordFile: String? = nil, caFile: String? = nil) {
    self.user = user
    self.passwordFile = passwordFile
    self.caFile = caFile
  }

  /// The password of the file; nil when there is none.
  /// - Parameter section: where the login stands, for an error.
  package func password(in section: String = "redis") throws(ConfigurationError) -> Secret? {
    guard let passwordFile else { return nil }
    return try SecretFile.read(passwordFile, field: "\(section).sentinel_password_file")
  }
}

extension SentinelLogin {
  /// - Parameter url: names sentinels; beside another one the fields have no meaning.
  init(in section: ConfigurationSection, beside url: RedisURL) throws(ConfigurationError) {
    self.init()
    guard case .sentinels = url.server else {
      let own = try section.scalar("url")
      for field in Self.fields {
        // A variable or an option that names another Redis leaves those of the file as they are.
        guard let scalar = try section.scalar(field),
          own == nil || (own?.variable == nil) == (scalar.variable == nil)
        else { continue }
        // Which Redis was meant is not known.
        if section.source.hasError(at: section.path(to: "url")) { continue }
        try section.source.refuse(
          scalar.refused(
            "must stand beside sentinels in \(section.path(to: "url")) (redis+sentinel://…)"))
      }
      return
    }
    user = try section.scalar("sentinel_user")?.text
    passwordFile = try section.file("sentinel_password_file")
    caFile = try section.file("sentinel_ca_file")
  }
}
