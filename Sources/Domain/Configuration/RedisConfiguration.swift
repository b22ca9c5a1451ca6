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
  /// How to log in at the sentinels of the URL, where it has any.
  package var sentinel: SentinelLogin
  /// The section of the configuration that says all this, by which errors name a field of it.
  package var section = RedisConfiguration.usualSection

  package static let usualSection = "redis"

  package init(
    url: RedisURL = RedisURL(
      server: .tcp(host: "127.0.0.1", port: RedisURL.defaultPort, tls: false)),
    passwordFile: String? = nil, caFile: String? = nil, prefix: String = Self.prefixDefault,
    acceptedRisks: Set<RedisRisk> = [], sentinel: SentinelLogin = SentinelLogin()
  ) {
    self.url = url
    self.passwordFile = passwordFile
    self.caFile = caFile
    self.prefix = prefix
    self.acceptedRisks = acceptedRisks
    self.sentinel = sentinel
  }

  /// The password of the URL or of the password file; nil when there is neither.
  package func password() throws(ConfigurationError) -> Secret? {
    guard let passwordFile else { return url.password }
    return try SecretFile.read(passwordFile, field: "\(section).password_file")
  }
}

extension RedisConfiguration {
  static let fields =
    ["url", "password_file", "ca_file", "prefix", "accepted_risks"] + SentinelLogin.fields

  /// - Parameter section: of the fields, which may hold others.
  init(in section: ConfigurationSection) throws(ConfigurationError) {
    self.init()
    self.section = section.field
    let own = try section.scalar("url")
    if let url = try section.value("url", { (text) throws(InvalidField) in try RedisURL(text) }) {
      self.url = url
      if url.password != nil, let own { section.source.notePassword(in: own) }
    }
    let file = try section.scalar("password_file")
    if url.password != nil, let own, let file, (own.variable == nil) == (file.variable == nil) {
      try section.source.refuse(
        file.refused(
          "must not stand beside a password in \(section.path(to: "url")): give one of them"))
    }
    // The environment goes before the file.
    let isDisplaced = url.password != nil && own?.variable != nil
    passwordFile = isDisplaced ? nil : try section.file("password_file")
    caFile = try section.file("ca_file")
    if let scalar = try section.scalar("prefix") {
      prefix = try section.source.reading(else: prefix) { () throws(ConfigurationError) in
        try Self.checkPrefix(scalar)
        return scalar.text
      }
    }
    try checkCluster(section)
    sentinel = try SentinelLogin(in: section, beside: url)
    if let scalar = try section.scalar("accepted_risks") {
      acceptedRisks = try section.source.reading(else: []) { () throws(ConfigurationError) in
        try Self.risks(scalar)
      }
    }
  }

  /// All keys must be in one slot of a cluster.
  private func checkCluster(_ section: ConfigurationSection) throws(ConfigurationError) {
    guard case .cluster = url.server, !prefix.contains("{") else { return }
    let message =
      "must be a hash tag, such as {pushpool}, beside redis+cluster:// in \(section.path(to: "url"))"
    try section.source.refuse(
      section.scalar("prefix")?.refused(message) ?? section.missing("prefix", message))
  }

  /// Words with commas or spaces between them.
  private static func risks(
    _ scalar: ConfigurationScalar
  ) throws(ConfigurationError) -> Set<RedisRisk> {
    var risks: Set<RedisRisk> = []
    for word in scalar.text.split(whereSeparator: { $0 == "," || $0 == " " }) {
      guard let risk = RedisRisk(rawValue: String(word)) else {
        let names = RedisRisk.allCases.map(\.rawValue)
        let hint = NearestName.suggestion(for: String(word), among: names)
        throw scalar.refused(
          "must be of the words \(names.joined(separator: ", ")), with commas between them, has "
            + ConfigurationSection.quoted(String(word))
            + (hint.map { "; did you mean \"\($0)\"?" } ?? ""))
      }
      risks.insert(risk)
    }
    return risks
  }

  /// Letters, digits and `. _ - :`; a `{hash tag}` puts every key on one node of a cluster.
  private static func checkPrefix(_ scalar: ConfigurationScalar) throws(ConfigurationError) {
    let text = scalar.text
    guard (1...ConfigurationLimits.prefixBytesMax).contains(text.utf8.count),
      TextRule.isWord(text, others: "._-:{}")
    else {
      throw scalar.refused(
        "must be 1 to \(ConfigurationLimits.prefixBytesMax) ASCII letters, digits or . _ - : { }")
    }
    let braces = text.filter { $0 == "{" || $0 == "}" }
    guard braces.isEmpty || (braces == "{}" && !text.contains("{}")) else {
      throw scalar.refused("must have one hash tag at most, such as {pushpool}")
    }
  }
}
