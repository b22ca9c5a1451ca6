package import Model

extension AppForm {
  /// One environment of the app at APNs.
  package struct APNs: Sendable, Equatable {
    package enum Credential: Sendable, Equatable {
      /// A signing key, which is a secret.
      case token(keyID: String, teamID: String)
      /// A certificate with its key, which is a secret.
      case certificate
    }

    package var credential: Credential
    /// The app's bundle id.
    package var topic: String
    package var access: Access

    package init(credential: Credential, topic: String, access: Access = Access()) {
      self.credential = credential
      self.topic = topic
      self.access = access
    }
  }
}

extension AppSecretName {
  package static func apns(_ environment: PushEnvironment, _ field: Field) -> AppSecretName {
    AppSecretName(AppForm.APNs.part(environment), field)
  }
}

extension AppForm.APNs: NetworkForm {
  static let network = Network.apns
  private static let ids = ["key_id", "team_id"]
  static let fields = ids + ["topic"]
  static let secretFields: [AppSecretName.Field] = [.key, .certificate, .password]

  var requiredSecret: AppSecretName.Field { credential == .certificate ? .certificate : .key }

  init(_ section: inout AppFormSection) throws(InvalidField) {
    self.init(
      credential: try Self.credential(&section),
      topic: try section.reader.required("topic", "the bundle id of the app") {
        (text) throws(InvalidField) in try AppFieldRule.checkBundleID(text)
      },
      access: try section.access())
  }

  private static func credential(
    _ section: inout AppFormSection
  ) throws(InvalidField) -> Credential {
    let reader = section.reader
    let hasCertificate = try section.take(.certificate)
    let hasKey = try section.take(.key)
    let hasPassword = try section.take(.password)
    let isCertificate = section.hasSecrets ? hasCertificate : !ids.contains(where: reader.has)
    guard isCertificate else {
      if hasPassword {
        throw reader.refused(
          "password", "belongs to a certificate, and there is none: leave it out")
      }
      if section.hasSecrets, !hasKey {
        throw reader.refused(
          "key", "is missing: give key, key_id and team_id, or a certificate")
      }
      return .token(
        keyID: try appleID("key_id", "the ten characters in the name of the .p8", reader),
        teamID: try appleID("team_id", "the ten characters of the Apple team", reader))
    }
    guard !hasKey else {
      throw reader.refused(
        "certificate", "must not stand beside a key: give a key or a certificate")
    }
    if let name = ids.first(where: reader.has) {
      throw reader.refused(name, "belongs to a key, and there is a certificate: leave it out")
    }
    return .certificate
  }

  private static func appleID(
    _ name: String, _ why: String, _ reader: FieldReader
  ) throws(InvalidField) -> String {
    try reader.required(name, why) { (text) throws(InvalidField) in
      try AppFieldRule.checkAppleID(text)
    }
  }

  func write(to object: inout JSONObject, _ secret: (AppSecretName.Field) -> JSONValue?) {
    switch credential {
    case .token(let keyID, let teamID):
      object.add(secret(.key), for: "key")
      object.add(.string(keyID), for: "key_id")
      object.add(.string(teamID), for: "team_id")
    case .certificate:
      object.add(secret(.certificate), for: "certificate")
      object.add(secret(.password), for: "password")
    }
    object.add(.string(topic), for: "topic")
  }
}
