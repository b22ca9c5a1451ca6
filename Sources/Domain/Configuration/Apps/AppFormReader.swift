internal import Model

/// Reads the JSON of an app: its form, and the secrets that stand in it.
struct AppFormReader {
  /// Whether there may be secrets.
  let hasSecrets: Bool
  private(set) var secrets: [AppSecretName: AppDocument.Secret] = [:]

  private static let accessFields = ["endpoint", "ca", "proxy", "proxy_user"]

  init(hasSecrets: Bool) { self.hasSecrets = hasSecrets }

  /// - Parameter others: names of members that somebody else reads.
  mutating func read(_ json: JSONValue, besides others: [String]) throws(InvalidField) -> AppForm {
    let reader = try FieldReader(json, at: "", known: AppForm.fields + others)
    var form = AppForm()
    if let value = reader["apns"] {
      let environments = try FieldReader(
        value, at: reader.pointer(to: "apns"), known: PushEnvironment.allCases.map(\.rawValue))
      for environment in PushEnvironment.allCases {
        guard let value = environments[environment.rawValue] else { continue }
        form.apns[environment] = try apns(
          value, at: environments.pointer(to: environment.rawValue), environment)
      }
    }
    if let value = reader["fcm"] { form.fcm = try fcm(value, at: reader.pointer(to: "fcm")) }
    if let value = reader["jpush"] {
      form.jpush = try jpush(value, at: reader.pointer(to: "jpush"))
    }
    form.rules = try Self.rules(reader)
    guard !form.apns.isEmpty || form.fcm != nil || form.jpush != nil else {
      throw InvalidField(pointer: "", message: "has no apns, fcm or jpush: it could send nothing")
    }
    return form
  }

  // MARK: Networks

  private mutating func apns(
    _ json: JSONValue, at pointer: String, _ environment: PushEnvironment
  ) throws(InvalidField) -> AppForm.APNs {
    let reader = try section(
      json, at: pointer, ["key_id", "team_id", "topic"], .apns(environment, .key),
      .apns(environment, .certificate), .apns(environment, .password),
      .apns(environment, .proxyPassword))
    return AppForm.APNs(
      credential: try credential(reader, environment),
      topic: try Self.required("topic", "the bundle id of the app", reader) {
        (text) throws(InvalidField) in try AppFieldRule.checkBundleID(text)
      },
      access: try access(reader, .apns(environment, .proxyPassword)))
  }

  private mutating func credential(
    _ reader: FieldReader, _ environment: PushEnvironment
  ) throws(InvalidField) -> AppForm.APNs.Credential {
    let ids = ["key_id", "team_id"]
    let hasCertificate = try take(.apns(environment, .certificate), reader)
    let hasKey = try take(.apns(environment, .key), reader)
    let hasPassword = try take(.apns(environment, .password), reader)
    let isCertificate = hasSecrets ? hasCertificate : !ids.contains(where: reader.has)
    guard isCertificate else {
      if hasPassword {
        throw reader.refused("password", "is that of a certificate, and there is none")
      }
      if hasSecrets, !hasKey {
        throw reader.refused(
          "key", "is missing: give key, key_id and team_id, or a certificate")
      }
      return .token(
        keyID: try Self.appleID("key_id", "the ten characters in the name of the .p8", reader),
        teamID: try Self.appleID("team_id", "the ten characters of the Apple team", reader))
    }
    guard !hasKey else {
      throw reader.refused(
        "certificate", "must not stand beside a key: give a key or a certificate")
    }
    if let name = ids.first(where: reader.has) {
      throw reader.refused(name, "is that of a key, and there is a certificate: leave it out")
    }
    return .certificate
  }

  private static func appleID(
    _ name: String, _ why: String, _ reader: FieldReader
  ) throws(InvalidField) -> String {
    try required(name, why, reader) { (text) throws(InvalidField) in
      try AppFieldRule.checkAppleID(text)
    }
  }

  private mutating func fcm(
    _ json: JSONValue, at pointer: String
  ) throws(InvalidField) -> AppForm.FCM {
    let reader = try section(
      json, at: pointer, ["token_endpoint", "messages_per_minute"], .fcm(.serviceAccount),
      .fcm(.proxyPassword))
    try require(.fcm(.serviceAccount), "the JSON key of a Firebase service account", reader)
    return AppForm.FCM(
      tokenEndpoint: try Self.value("token_endpoint", reader) { (text) throws(InvalidField) in
        try ServiceURL(text, allowsPath: true)
      },
      messagesPerMinute: try Self.integer(
        "messages_per_minute", in: 1...ConfigurationLimits.fcmMessagesPerMinuteMax,
        zero: AppFieldRule.noMessagesPerMinute, reader)
        ?? ConfigurationLimits.fcmMessagesPerMinuteUsual,
      access: try access(reader, .fcm(.proxyPassword)))
  }

  private mutating func jpush(
    _ json: JSONValue, at pointer: String
  ) throws(InvalidField) -> AppForm.JPush {
    let reader = try section(
      json, at: pointer, ["app_key"], .jpush(.masterSecret), .jpush(.proxyPassword))
    let appKey = try Self.required("app_key", "the AppKey of the JPush console", reader) {
      (text) throws(InvalidField) in try AppFieldRule.checkAppKey(text)
    }
    try require(.jpush(.masterSecret), "the master secret of the JPush console", reader)
    return AppForm.JPush(appKey: appKey, access: try access(reader, .jpush(.proxyPassword)))
  }

  /// The reader of a network's section.
  private func section(
    _ json: JSONValue, at pointer: String, _ own: [String], _ secrets: AppSecretName...
  ) throws(InvalidField) -> FieldReader {
    try FieldReader(
      json, at: pointer,
      known: own + Self.accessFields + (hasSecrets ? secrets.map(\.field.rawValue) : []))
  }

  private mutating func access(
    _ reader: FieldReader, _ password: AppSecretName
  ) throws(InvalidField) -> AppForm.Access {
    var access = AppForm.Access()
    access.endpoint = try Self.value("endpoint", reader) { (text) throws(InvalidField) in
      try ServiceURL(text)
    }
    access.authorities = try reader.string("ca")
    if let count = access.authorities?.utf8.count,
      !(1...ConfigurationLimits.appAuthoritiesBytesMax).contains(count)
    {
      throw reader.refused(
        "ca",
        "must be certificates in PEM, of 1 to \(ConfigurationLimits.appAuthoritiesBytesMax) bytes, is \(count)"
      )
    }
    access.proxy = try Self.value("proxy", reader) { (text) throws(InvalidField) in
      try ProxyURL(text)
    }
    access.proxyUser = try Self.value("proxy_user", reader) { (text) throws(InvalidField) in
      try AppFieldRule.checkProxyUser(text)
      return text
    }
    if access.proxyUser != nil {
      guard access.proxy != nil else {
        throw reader.refused("proxy_user", "must stand beside a proxy, and there is none")
      }
      try require(password, "the password of proxy_user", reader)
    } else if try take(password, reader) {
      throw reader.refused(
        "proxy_user", "is missing: proxy_password is the password of a user")
    }
    return access
  }

  // MARK: Secrets

  /// Takes the secret of a place, if there is one. - Returns: whether there is.
  private mutating func take(
    _ name: AppSecretName, _ reader: FieldReader
  ) throws(InvalidField) -> Bool {
    let field = name.field.rawValue
    guard hasSecrets, let value = reader[field] else { return false }
    switch value {
    case .string(let text):
      let count = text.utf8.count
      guard (1...ConfigurationLimits.appSecretBytesMax).contains(count) else {
        throw reader.refused(
          field,
          "must have 1 to \(ConfigurationLimits.appSecretBytesMax) bytes, has \(count)")
      }
      guard !(name.field.isGuessable || name.field == .masterSecret) || !TextRule.hasControl(text)
      else {
        throw reader.refused(
          field, "must not hold control characters, such as the end of a line")
      }
      secrets[name] = .given(AppSecret(Array(text.utf8)))
    case .object(let object) where name.field == .serviceAccount && object["set_at"] == nil:
      let text = value.bytes()
      guard text.count <= ConfigurationLimits.appSecretBytesMax else {
        throw reader.refused(
          field,
          "must have at most \(ConfigurationLimits.appSecretBytesMax) bytes, has \(text.count)")
      }
      secrets[name] = .given(AppSecret(text))
    case .object: secrets[name] = .kept(try AppSecretFacts(value, at: reader.pointer(to: field)))
    default:
      throw reader.refused(
        field,
        "must be the secret as a string, or as the app was shown with it, is \(value.kindName)")
    }
    return true
  }

  private mutating func require(
    _ name: AppSecretName, _ why: String, _ reader: FieldReader
  ) throws(InvalidField) {
    guard hasSecrets, try !take(name, reader) else { return }
    throw reader.refused(name.field.rawValue, "is missing: \(why)")
  }

  // MARK: Rules

  private static func rules(_ reader: FieldReader) throws(InvalidField) -> AppRules {
    var rules = AppRules()
    rules.pushesPerSecond = try integer(
      "pushes_per_second", in: 1...ConfigurationLimits.pushesPerSecondMax,
      zero: AppFieldRule.noPushesPerSecond, reader)
    rules.eventsPerMinute =
      try integer(
        "events_per_minute", in: 0...ConfigurationLimits.eventsPerMinuteMax, zero: nil, reader)
      ?? rules.eventsPerMinute
    rules.timeZone = try value("time_zone", reader) { (text) throws(InvalidField) in
      try AppFieldRule.checkTimeZone(text)
      return text
    }
    guard let jobs = reader["jobs"] else { return rules }
    let own = try FieldReader(
      jobs, at: reader.pointer(to: "jobs"), known: JobsConfiguration.fields)
    rules.jobs.retentionHours = try integer(
      "retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
      zero: AppFieldRule.noRetention, own)
    rules.jobs.namedRetentionHours = try integer(
      "named_retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
      zero: AppFieldRule.noNamedRetention, own)
    rules.jobs.unnamedRetentionMinutes = try integer(
      "unnamed_retention_minutes", in: 1...ConfigurationLimits.retentionHoursMax * 60,
      zero: AppFieldRule.noUnnamedRetention, own)
    return rules
  }

  // MARK: Values

  /// - Parameter zero: what to do instead of 0 where 0 is out of range.
  private static func integer(
    _ name: String, in range: ClosedRange<Int>, zero: String?, _ reader: FieldReader
  ) throws(InvalidField) -> Int? {
    if let zero, reader[name]?.int64Value == 0 {
      throw reader.refused(name, "must not be 0: \(zero)")
    }
    return try reader.integer(name, in: range)
  }

  /// A value that checks itself.
  private static func value<Value>(
    _ name: String, _ reader: FieldReader, _ make: (String) throws(InvalidField) -> Value
  ) throws(InvalidField) -> Value? {
    guard let text = try reader.string(name) else { return nil }
    do { return try make(text) } catch { throw error.under(reader.pointer(to: name)) }
  }

  private static func required(
    _ name: String, _ why: String, _ reader: FieldReader,
    _ check: (String) throws(InvalidField) -> Void
  ) throws(InvalidField) -> String {
    let text = try reader.requiredString(name, why: why)
    do { try check(text) } catch { throw error.under(reader.pointer(to: name)) }
    return text
  }
}
