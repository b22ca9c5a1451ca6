internal import Model
internal import PushpoolConfiguration

/// The shapes of apps that stand in Redis, as given and as shown.
enum AppSchema {
  static let given = form(isShown: false)
  static let shown = form(isShown: true)

  private static func form(isShown: Bool) -> JSONValue {
    var fields: [(String, JSONValue)] = [
      ("id", Schema.string("The app", bytesMax: Limits.appBytesMax)),
      ("revision", Schema.string("Another one for each change of the app")),
      ("changed_at", Schema.instant("When it was changed last")),
      ("changed_by", Schema.string("The person or the key that changed it last")),
      (
        "apns",
        Schema.object(
          PushEnvironment.allCases.map { ($0.rawValue, apns(isShown)) }, closed: true)
      ),
      ("fcm", fcm(isShown)), ("jpush", jpush(isShown)),
      (
        "pushes_per_second",
        Schema.integer(
          "Pushes that the fleet begins in a second",
          in: 1...ConfigurationLimits.pushesPerSecondMax)
      ),
      (
        "events_per_minute",
        Schema.integer(
          "The loop guard's limit; 0 for any number", in: 0...ConfigurationLimits.eventsPerMinuteMax
        )
      ),
      ("time_zone", Schema.string("Such as Asia/Tokyo")), ("jobs", jobs),
    ]
    if isShown {
      fields.append(
        ("fault", Schema.string("Why the record cannot be read, in place of all else but the id")))
    }
    return Schema.object(fields, required: isShown ? ["id"] : [], closed: true)
  }

  private static func apns(_ isShown: Bool) -> JSONValue {
    Schema.object(
      [
        ("key", secret("The .p8 signing key", isShown)), ("key_id", Schema.string(bytesMax: 10)),
        ("team_id", Schema.string(bytesMax: 10)),
        ("certificate", secret("A .p12 in Base64, or PEM, in place of the three", isShown)),
        ("password", secret("Of the certificate", isShown)),
        ("topic", Schema.string("The bundle id", bytesMax: Limits.apnsTopicBytesMax)),
      ] + access(isShown), required: ["topic"], closed: true)
  }

  private static func fcm(_ isShown: Bool) -> JSONValue {
    Schema.object(
      [
        (
          "service_account",
          secret("The JSON key of a service account, as an object or as its text", isShown)
        ), ("token_endpoint", Schema.string(format: "uri")),
        (
          "messages_per_minute",
          Schema.integer(
            "The quota of the project", in: 1...ConfigurationLimits.fcmMessagesPerMinuteMax)
        ),
      ] + access(isShown), required: ["service_account"], closed: true)
  }

  private static func jpush(_ isShown: Bool) -> JSONValue {
    Schema.object(
      [("app_key", Schema.string()), ("master_secret", secret("Of JPush's console", isShown))]
        + access(isShown), required: ["app_key", "master_secret"], closed: true)
  }

  private static func access(_ isShown: Bool) -> [(String, JSONValue)] {
    [
      ("endpoint", Schema.string("In place of the network's own", format: "uri")),
      (
        "ca",
        Schema.string(
          "Authorities to trust beside the system's, in PEM",
          bytesMax: ConfigurationLimits.appAuthoritiesBytesMax)
      ), ("proxy", Schema.string(format: "uri")),
      ("proxy_user", Schema.string(bytesMax: ConfigurationLimits.proxyUserBytesMax)),
      ("proxy_password", secret("Of proxy_user", isShown)),
    ]
  }

  private static let jobs = Schema.object(
    [
      ("retention_hours", Schema.integer(in: 1...ConfigurationLimits.retentionHoursMax)),
      ("named_retention_hours", Schema.integer(in: 1...ConfigurationLimits.retentionHoursMax)),
      (
        "unnamed_retention_minutes",
        Schema.integer(in: 1...ConfigurationLimits.retentionHoursMax * 60)
      ),
    ], closed: true)

  private static func secret(_ description: String, _ isShown: Bool) -> JSONValue {
    let facts = Schema.object(
      [
        ("sha256", Schema.string("The first 16 digits; not of a password")),
        ("set_at", Schema.instant("When it was set")),
      ], required: ["set_at"], closed: true, description: description)
    guard !isShown else { return facts }
    return [
      "description": .string("\(description); or as it was shown, to stay as it is"),
      "anyOf": .array([
        Schema.string(bytesMax: ConfigurationLimits.appSecretBytesMax),
        .object(["type": .string("object")]),
      ]),
    ]
  }
}
