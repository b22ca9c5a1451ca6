internal import Model

/// A network's section of an app while it is read. The secrets that are taken of it are noted.
struct AppFormSection {
  private static let accessFields = ["endpoint", "ca", "proxy", "proxy_user"]

  let reader: FieldReader
  /// Whether there may be secrets.
  let hasSecrets: Bool
  private(set) var secrets: [AppSecretName: AppDocument.Secret] = [:]
  private let part: String

  /// - Parameter environment: nil where there is one account for both.
  init<Form: NetworkForm>(
    of form: Form.Type, _ environment: PushEnvironment?, _ json: JSONValue, at pointer: String,
    hasSecrets: Bool
  ) throws(InvalidField) {
    let secrets = hasSecrets ? Form.secretNames(environment).map(\.field.rawValue) : []
    reader = try FieldReader(
      json, at: pointer, known: Form.fields + Self.accessFields + secrets)
    part = Form.part(environment)
    self.hasSecrets = hasSecrets
  }

  mutating func access() throws(InvalidField) -> AppForm.Access {
    var access = AppForm.Access()
    access.endpoint = try reader.value("endpoint") { (text) throws(InvalidField) in
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
    access.proxy = try reader.value("proxy") { (text) throws(InvalidField) in
      try ProxyURL(text)
    }
    access.proxyUser = try reader.value("proxy_user") { (text) throws(InvalidField) in
      try AppFieldRule.checkProxyUser(text)
      return text
    }
    if access.proxyUser != nil {
      guard access.proxy != nil else {
        throw reader.refused("proxy_user", "must stand beside a proxy, and there is none")
      }
      try require(.proxyPassword, "the password of proxy_user")
    } else if try take(.proxyPassword) {
      throw reader.refused(
        "proxy_user", "is missing: proxy_password is the password of a user")
    }
    return access
  }

  // MARK: Secrets

  /// Takes a secret, which must be there if there may be secrets.
  mutating func require(_ field: AppSecretName.Field, _ why: String) throws(InvalidField) {
    guard hasSecrets, try !take(field) else { return }
    throw reader.refused(field.rawValue, "is missing: \(why)")
  }

  /// Takes a secret, if it is there. - Returns: whether it is.
  mutating func take(_ field: AppSecretName.Field) throws(InvalidField) -> Bool {
    guard hasSecrets, let value = reader[field.rawValue] else { return false }
    secrets[AppSecretName(part, field)] = try secret(value, field)
    return true
  }

  private func secret(
    _ value: JSONValue, _ field: AppSecretName.Field
  ) throws(InvalidField) -> AppDocument.Secret {
    let name = field.rawValue
    switch value {
    case .string(let text):
      let count = text.utf8.count
      guard (1...ConfigurationLimits.appSecretBytesMax).contains(count) else {
        throw reader.refused(
          name, "must have 1 to \(ConfigurationLimits.appSecretBytesMax) bytes, has \(count)")
      }
      guard !field.isOneLine || !TextRule.hasControl(text) else {
        throw reader.refused(
          name, "must not hold control characters, such as the end of a line")
      }
      return .given(AppSecret(Array(text.utf8)))
    case .object(let object) where field.isJSON && object["set_at"] == nil:
      let text = value.bytes()
      guard text.count <= ConfigurationLimits.appSecretBytesMax else {
        throw reader.refused(
          name,
          "must have at most \(ConfigurationLimits.appSecretBytesMax) bytes, has \(text.count)")
      }
      return .given(AppSecret(text))
    case .object: return .kept(try AppSecretFacts(value, at: reader.pointer(to: name)))
    default:
      throw reader.refused(
        name,
        "must be the secret as a string, or as the app was shown with it, is \(value.kindName)")
    }
  }
}

extension FieldReader {
  /// - Parameter zero: what to do instead of 0 where 0 is out of range.
  func integer(
    _ name: String, in range: ClosedRange<Int>, zero: String?
  ) throws(InvalidField) -> Int? {
    if let zero, self[name]?.int64Value == 0 {
      throw refused(name, "must not be 0: \(zero)")
    }
    return try integer(name, in: range)
  }

  /// A value that checks itself.
  func value<Value>(
    _ name: String, _ make: (String) throws(InvalidField) -> Value
  ) throws(InvalidField) -> Value? {
    guard let text = try string(name) else { return nil }
    do { return try make(text) } catch { throw error.under(pointer(to: name)) }
  }

  func required(
    _ name: String, _ why: String, _ check: (String) throws(InvalidField) -> Void
  ) throws(InvalidField) -> String {
    let text = try requiredString(name, why: why)
    do { try check(text) } catch { throw error.under(pointer(to: name)) }
    return text
  }
}
