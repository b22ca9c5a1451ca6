internal import Model

/// Reads the JSON of an app: its form, and the secrets that stand in it.
struct AppFormReader {
  /// Whether there may be secrets.
  private let hasSecrets: Bool
  private(set) var secrets: [AppSecretName: AppDocument.Secret] = [:]

  init(hasSecrets: Bool) { self.hasSecrets = hasSecrets }

  /// - Parameter others: names of members that somebody else reads.
  mutating func read(_ json: JSONValue, besides others: [String]) throws(InvalidField) -> AppForm {
    let reader = try FieldReader(json, at: "", known: AppForm.fields + others)
    var form = AppForm()
    try form.readNetworks(reader, by: &self)
    form.rules = try Self.rules(reader)
    guard !form.accounts.isEmpty else {
      throw InvalidField(
        pointer: "", message: "has no \(Network.alternatives): it could send nothing")
    }
    return form
  }

  // MARK: Networks

  /// The account of a network that has one for both environments.
  /// - Parameter reader: of the whole app.
  mutating func account<Form: NetworkForm>(_ reader: FieldReader) throws(InvalidField) -> Form? {
    let name = Form.network.rawValue
    guard let value = reader[name] else { return nil }
    return try form(value, at: reader.pointer(to: name), nil)
  }

  /// The accounts of a network that has one for each environment.
  /// - Parameter reader: of the whole app.
  mutating func accounts<Form: NetworkForm>(
    _ reader: FieldReader
  ) throws(InvalidField) -> [PushEnvironment: Form] {
    let name = Form.network.rawValue
    guard let value = reader[name] else { return [:] }
    let environments = try FieldReader(
      value, at: reader.pointer(to: name), known: PushEnvironment.allCases.map(\.rawValue))
    var accounts: [PushEnvironment: Form] = [:]
    for environment in PushEnvironment.allCases {
      guard let value = environments[environment.rawValue] else { continue }
      accounts[environment] = try form(
        value, at: environments.pointer(to: environment.rawValue), environment)
    }
    return accounts
  }

  private mutating func form<Form: NetworkForm>(
    _ json: JSONValue, at pointer: String, _ environment: PushEnvironment?
  ) throws(InvalidField) -> Form {
    var section = try AppFormSection(
      of: Form.self, environment, json, at: pointer, hasSecrets: hasSecrets)
    let form = try Form(&section)
    secrets.merge(section.secrets) { $1 }
    return form
  }

  // MARK: Rules

  private static func rules(_ reader: FieldReader) throws(InvalidField) -> AppRules {
    var rules = AppRules()
    rules.pushesPerSecond = try reader.integer(
      "pushes_per_second", in: 1...ConfigurationLimits.pushesPerSecondMax,
      zero: AppFieldRule.noPushesPerSecond)
    rules.eventsPerMinute =
      try reader.integer("events_per_minute", in: 0...ConfigurationLimits.eventsPerMinuteMax)
      ?? rules.eventsPerMinute
    rules.timeZone = try reader.value("time_zone") { (text) throws(InvalidField) in
      try AppFieldRule.checkTimeZone(text)
      return text
    }
    guard let jobs = reader["jobs"] else { return rules }
    let own = try FieldReader(
      jobs, at: reader.pointer(to: "jobs"), known: JobsConfiguration.fields)
    rules.jobs.retentionHours = try own.integer(
      "retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
      zero: AppFieldRule.noRetention)
    rules.jobs.namedRetentionHours = try own.integer(
      "named_retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
      zero: AppFieldRule.noNamedRetention)
    rules.jobs.unnamedRetentionMinutes = try own.integer(
      "unnamed_retention_minutes", in: 1...ConfigurationLimits.retentionHoursMax * 60,
      zero: AppFieldRule.noUnnamedRetention)
    return rules
  }
}
