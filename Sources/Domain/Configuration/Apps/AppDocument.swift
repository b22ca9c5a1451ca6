package import Model

/// An app as somebody gives it: its form, and its secrets in their places.
package struct AppDocument: Sendable, Equatable {
  /// One secret of a document.
  package enum Secret: Sendable, Equatable {
    case given(AppSecret)
    /// As it was shown: the secret that the app has already is to stay, if it still is the one that was shown.
    case kept(AppSecretFacts)
  }

  package let form: AppForm
  package let secrets: [AppSecretName: Secret]
  /// The revision of the app that the document was made from, which must be the present one; nil for any.
  package let revision: String?

  package init(form: AppForm, secrets: [AppSecretName: Secret], revision: String? = nil) {
    self.form = form
    self.secrets = secrets
    self.revision = revision
  }

  /// Members beside the form. An app is shown with them, and may be given as it was shown.
  private static let others = ["id", "revision", "changed_at", "changed_by"]

  /// Reads JSON. Whether a secret is one, tells only who makes a provider of it.
  /// - Parameter id: of the app. The document may name it, and no other.
  package init(_ json: JSONValue, id: String) throws(InvalidField) {
    // Clients and proxies take these two for steps of a path (RFC 3986, 6.2.2.3).
    guard id != ".", id != ".." else {
      throw InvalidField(
        pointer: "/id", message: "must not be . or ..: no path of the HTTP API could name the app")
    }
    var reader = AppFormReader(hasSecrets: true)
    form = try reader.read(json, besides: Self.others)
    secrets = reader.secrets
    let object = json.objectValue ?? [:]
    guard object["id"] ?? .string(id) == .string(id) else {
      throw InvalidField(
        pointer: "/id", message: "names another app than \(id): leave it out, or give the same")
    }
    revision = object["revision"]?.stringValue
    if let given = object["revision"], revision == nil {
      throw InvalidField(
        pointer: "/revision",
        message:
          "must be a string, as the app was shown with it, is \(given.kindName): leave it out to replace any"
      )
    }
  }

  /// Whether secrets are to stay that the app has.
  package var keepsSecrets: Bool {
    secrets.values.contains { if case .kept = $0 { true } else { false } }
  }
}

/// The facts of a secret that may be shown.
package struct AppSecretFacts: Sendable, Equatable {
  static let fields = ["sha256", "set_at"]
  private static let digestDigits = 16

  /// The first 16 hexadecimal digits of its SHA-256, in lower case; nil for a password, which people choose, so that a digest could be guessed.
  package let digest: String?
  /// When it was set, in epoch milliseconds.
  package let setAtMs: Int64

  package init(digest: String?, setAtMs: Int64) {
    self.digest = digest
    self.setAtMs = setAtMs
  }

  /// Reads what `json` writes.
  package init(_ json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(json, at: pointer, known: Self.fields)
    digest = try reader.string("sha256")
    guard digest.map(Self.isDigest) ?? true else {
      throw reader.refused(
        "sha256", "must be \(Self.digestDigits) hexadecimal digits, as the app was shown with it")
    }
    guard let setAtMs = reader["set_at"]?.int64Value, setAtMs >= 0 else {
      throw reader.refused("set_at", "must be epoch milliseconds, as the app was shown with it")
    }
    self.setAtMs = StoredNumber.instantMs(setAtMs)
  }

  /// Whether a text can be such a digest.
  package static func isDigest(_ text: String) -> Bool {
    TextRule.isHexadecimal(text, digits: digestDigits)
  }

  package var json: JSONValue {
    var object = JSONObject()
    object.add(digest.map { .string($0) }, for: "sha256")
    object.add(.integer(setAtMs), for: "set_at")
    return .object(object)
  }
}

extension AppForm {
  static let fields =
    Network.allCases.map(\.rawValue)
    + ["pushes_per_second", "events_per_minute", "time_zone", "jobs"]

  /// Reads what `json` writes without secrets.
  package init(_ json: JSONValue) throws(InvalidField) {
    var reader = AppFormReader(hasSecrets: false)
    self = try reader.read(json, besides: [])
  }

  /// The form as JSON. Equal forms have equal texts.
  /// - Parameter secret: what is to stand in the place of a secret; nil for nothing.
  package func json(_ secret: (AppSecretName) -> JSONValue? = { _ in nil }) -> JSONObject {
    var object = JSONObject()
    for account in accounts {
      let (name, section) = (account.network.rawValue, JSONValue.object(account.json(secret)))
      guard let environment = account.environment else {
        object.add(section, for: name)
        continue
      }
      var sections = object[name]?.objectValue ?? [:]
      sections.add(section, for: environment.rawValue)
      object[name] = .object(sections)
    }
    object.add(rules.pushesPerSecond.map { .integer($0) }, for: "pushes_per_second")
    if rules.eventsPerMinute != ConfigurationLimits.eventsPerMinuteUsual {
      object.add(.integer(rules.eventsPerMinute), for: "events_per_minute")
    }
    object.add(rules.timeZone.map { .string($0) }, for: "time_zone")
    if rules.jobs != AppRules.Jobs() { object.add(.object(rules.jobs.json), for: "jobs") }
    return object
  }
}

extension AppRules.Jobs {
  fileprivate var json: JSONObject {
    var object = JSONObject()
    object.add(retentionHours.map { .integer($0) }, for: "retention_hours")
    object.add(namedRetentionHours.map { .integer($0) }, for: "named_retention_hours")
    object.add(unnamedRetentionMinutes.map { .integer($0) }, for: "unnamed_retention_minutes")
    return object
  }
}
