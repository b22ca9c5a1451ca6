internal import Model

/// The shapes of installations in the API's document.
enum InstallationSchema {
  // MARK: Values

  /// 1 to so many bytes without control characters. Characters are at most as many as bytes.
  static func text(bytesMax: Int, _ description: String) -> JSONValue {
    [
      "type": .string("string"), "minLength": .integer(1), "maxLength": .integer(bytesMax),
      "pattern": .string("^[^\\u0000-\\u001f\\u007f-\\u009f]+$"),
      "description": .string(description),
    ]
  }

  /// ASCII letters, digits and other signs, of which a hyphen is the last.
  static func word(
    _ others: String, bytes: ClosedRange<Int>, _ description: String
  ) -> JSONValue {
    [
      "type": .string("string"), "minLength": .integer(bytes.lowerBound),
      "maxLength": .integer(bytes.upperBound),
      "pattern": .string("^[A-Za-z0-9\(others)]+$"), "description": .string(description),
    ]
  }

  static func word(_ others: String, bytesMax: Int, _ description: String) -> JSONValue {
    word(others, bytes: 1...bytesMax, description)
  }

  /// As a request may give it.
  private static func givenInstant(_ description: String) -> JSONValue {
    [
      "anyOf": .array([
        Schema.integer(in: Int(Limits.recentInstantMsMin)...Int(Limits.instantMsMax)),
        Schema.string(format: "date-time"),
      ]),
      "description": .string("\(description), in epoch milliseconds or as RFC 3339 writes it"),
    ]
  }

  // MARK: Fields

  private static let user = (
    "user", text(bytesMax: Limits.userBytesMax, "The user whose device it is")
  )

  private static let address: [(String, JSONValue)] = [
    ("app", word("._-", bytesMax: Limits.appBytesMax, "The app of the path")), user,
    ("network", Schema.choice(Network.allCases.map(\.rawValue), "The push network")),
    ("token", TokenSchema.any("The device token as the app got it; of APNs in hexadecimal")),
  ]

  private static let settings: [(String, JSONValue)] = [
    ("environment", Schema.choice(PushEnvironment.allCases.map(\.rawValue), "Default: production")),
    (
      "kind",
      Schema.choice(
        TokenKind.allCases.map(\.rawValue),
        "The kind of push that a token of APNs is for. Default: alert")
    ),
    (
      "object_id",
      word(
        "_-", bytesMax: Limits.objectIDBytesMax,
        "A stable id; made here when it is missing. A token that is installed already keeps its own"
      )
    ),
    ("device_type", text(bytesMax: Limits.deviceTypeBytesMax, "Such as phone")),
    ("app_name", text(bytesMax: Limits.appNameBytesMax, "The name of the app on the device")),
    ("app_version", text(bytesMax: Limits.versionBytesMax, "The version of the app")),
    ("os_version", text(bytesMax: Limits.versionBytesMax, "The version of the system")),
    ("sdk_version", text(bytesMax: Limits.versionBytesMax, "The version of the push library")),
    ("time_zone", word("_+/:-", bytesMax: Limits.timeZoneBytesMax, "Such as Europe/Berlin")),
    ("language", word("_-", bytesMax: Limits.languageBytesMax, "Such as zh-Hant")),
    ("badge", Schema.integer("The number on the app's icon", in: 0...Limits.badgeMax)),
    (
      "channels",
      [
        "type": .string("array"), "maxItems": .integer(Limits.channelsMax),
        "items": text(bytesMax: Limits.channelBytesMax, "The name of a channel"),
        "description": .string(
          "They replace the channels that the token had; without the field it stays in them"),
      ]
    ),
    (
      "custom",
      [
        "type": .string("object"), "maxProperties": .integer(Limits.customFieldsMax),
        "propertyNames": word("._-", bytesMax: Limits.customNameBytesMax, "The name of a field"),
        "additionalProperties": Schema.string(bytesMax: Limits.customValueBytesMax),
        "description": .string("Fields of the app's own"),
      ]
    ),
  ]

  private static let givenInstants: [(String, JSONValue)] = [
    ("created_at", givenInstant("When it was installed first. Default: now")),
    ("updated_at", givenInstant("When it was installed last. Default: now")),
  ]

  private static let toldInstants: [(String, JSONValue)] = [
    ("created_at", Schema.instant("When it was installed first")),
    ("updated_at", Schema.instant("When it was installed or changed last")),
  ]

  // MARK: Documents

  private static let example: JSONObject = [
    "user": .string("u1"), "app_version": .string("2.1"), "os_version": .string("18.2"),
    "language": .string("de"), "time_zone": .string("Europe/Berlin"),
    "channels": .array([.string("news")]), "custom": .object(["plan": .string("gold")]),
  ]

  private static func with(_ example: JSONObject, in schema: JSONValue) -> JSONValue {
    guard case .object(var object) = schema else { return schema }
    object["examples"] = .array([.object(example)])
    return .object(object)
  }

  /// The installation of a token in the path.
  static let put = with(
    example,
    in: Schema.object(
      address + settings + givenInstants, required: ["user"], closed: true,
      description: "An installation. What the path names may be left out, and so may a device "
        + "leave out its user"))

  /// An installation that names its token.
  static let post: JSONValue = {
    var whole = example
    whole["network"] = .string("fcm")
    whole["token"] = .string("cX1-token-of-u1:APA91")
    let schema = Schema.object(
      address + settings + givenInstants, required: ["user", "network", "token"], closed: true,
      description: "An installation. Its app may be left out")
    guard case .object(var object) = with(whole, in: schema) else { return schema }
    object["allOf"] = .array(TokenSchema.rules)
    return .object(object)
  }()

  /// A change by RFC 7396.
  static let patch: JSONValue = {
    let removable = settings.filter { $0.0 != "object_id" }.map { name, schema in
      (name, name == "custom" ? patchedCustom : Schema.nullable(schema))
    }
    let updated = ("updated_at", Schema.nullable(givenInstant("When it was installed last")))
    let change: JSONObject = [
      "app_version": .string("2.2"), "language": .null,
      "custom": .object(["plan": .null, "team": .string("red")]),
    ]
    return with(
      change,
      in: Schema.object(
        removable + [updated], closed: true,
        description:
          "A JSON Merge Patch: what is null is removed. The user, the token, object_id and "
          + "created_at cannot be changed"))
  }()

  private static let patchedCustom: JSONValue = Schema.nullable([
    "type": .string("object"), "maxProperties": .integer(Limits.customFieldsMax),
    "propertyNames": word("._-", bytesMax: Limits.customNameBytesMax, "The name of a field"),
    "additionalProperties": Schema.nullable(Schema.string(bytesMax: Limits.customValueBytesMax)),
  ])

  /// An installation as answers tell it.
  static let answer = Schema.object(
    address + settings + toldInstants,
    required: ["app", "user", "network", "token", "environment"], closed: true,
    description: "An installation. What is not known is left out, and so is the kind alert")

  static let answers = Schema.object(
    [
      ("items", Schema.array(of: answer, "In the order of their last install")),
      ("last_departure", lastDeparture),
    ],
    required: ["items"], closed: true)

  /// The last departure of a token.
  static let departure = Schema.object(
    departureFields + [("user", Schema.string("Whose it was until then"))],
    required: ["cause", "at"], closed: true, description: "What became of the token last")

  private static let lastDeparture = Schema.object(
    departureFields + [
      ("network", Schema.choice(Network.allCases.map(\.rawValue))),
      ("token", Schema.string("The token as it is kept; of a long one the beginning")),
    ],
    required: ["cause", "at", "network", "token"], closed: true,
    description: "Which device the user lost last. A device is not told")

  private static let departureFields: [(String, JSONValue)] = [
    (
      "cause",
      Schema.choice(
        Departure.Cause.allCases.map(\.rawValue),
        "network: called dead. explicit: uninstalled. overwritten: installed by another user. "
          + "evicted: another device of the user took its place. "
          + "environment: corrected, and it stayed")
    ), ("at", Schema.instant("When")),
    ("by", Schema.string("The reason of the network, the user, the token or the environment")),
    ("job", Schema.string("The job whose push the network's word was about")),
  ]

  /// The answer to an install.
  static func result(_ statuses: [InstallStatusName]) -> JSONValue {
    Schema.object(
      [
        ("status", Schema.choice(statuses.map(\.rawValue))),
        ("object_id", objectID),
        (
          "evicted",
          Schema.integer(
            "How many older devices of the user made room: a user has at most "
              + "\(Limits.installationsPerUserMax)", in: 0...Limits.installationsPerUserMax)
        ),
        (
          "previous_user",
          Schema.string("The user who had the token before. A device is not told of another user")
        ),
      ], required: ["status", "object_id", "evicted"], closed: true)
  }

  /// The words by which an answer says what an install did.
  enum InstallStatusName: String {
    case created, updated, moved
  }

  static let objectID = Schema.string("The id of the installation, which stays")

  /// A line of the answer to a batch.
  static let batchLine: JSONValue = [
    "oneOf": .array([
      Schema.object(
        [
          ("line", Schema.integer("The number of the line in the body, from 1")),
          ("status", Schema.choice(["created", "updated", "moved"])), ("object_id", objectID),
        ], required: ["line", "status", "object_id"], closed: true),
      Schema.object(
        [
          ("line", Schema.integer("The number of the line in the body, from 1")),
          (
            "error",
            Schema.object(
              [
                ("pointer", Schema.string("The field (RFC 6901); empty for the whole line")),
                ("detail", Schema.string("The rule that it breaks, and what to do")),
              ], required: ["pointer", "detail"], closed: true)
          ),
        ], required: ["line", "error"], closed: true),
    ])
  ]
}
