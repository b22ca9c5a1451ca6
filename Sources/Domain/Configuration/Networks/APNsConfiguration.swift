package import Model

/// One environment of an app at APNs.
package struct APNsConfiguration: Sendable, Equatable {
  package enum Credential: Sendable, Equatable {
    /// A .p8 signing key; key and team ids are ten letters or digits.
    case token(keyFile: String, keyID: String, teamID: String)
    /// A .p12, or a .pem of certificate and key.
    case certificate(file: String, passwordFile: String?)
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

extension AppConfiguration {
  /// Its accounts at APNs, one for each environment that it has there.
  package var apns: [PushEnvironment: APNsConfiguration] {
    get { networks.apns }
    _modify { yield &networks.apns }
  }
}

extension APNsConfiguration: NetworkConfiguration {
  package static let network = Network.apns
  private static let tokenFields = ["key_file", "key_id", "team_id"]
  private static let certificateFields = ["certificate_file", "password_file"]
  private static let fields =
    tokenFields + certificateFields + ["topic"] + ConfigurationSection.accessFields

  /// Reads the section of APNs, which has one for each environment.
  static func accounts(
    in app: ConfigurationSection
  ) throws(ConfigurationError) -> [PushEnvironment: APNsConfiguration] {
    let section = try app.section(
      network.rawValue, known: PushEnvironment.allCases.map(\.rawValue))
    var accounts: [PushEnvironment: APNsConfiguration] = [:]
    for environment in PushEnvironment.allCases {
      accounts[environment] = try APNsConfiguration(environment.rawValue, in: section)
    }
    return accounts
  }

  private init?(_ name: String, in parent: ConfigurationSection) throws(ConfigurationError) {
    let section = try parent.section(name, known: Self.fields + ConfigurationSection.formerFields)
    guard section.isPresent(fields: Self.fields) else { return nil }
    self.init(
      credential: try Self.credential(section),
      topic: try Self.topic(section),
      access: try section.access())
  }

  private static func credential(
    _ section: ConfigurationSection
  ) throws(ConfigurationError) -> Credential {
    let token = try first(tokenFields, section)
    let certificate = try first(certificateFields, section)
    if token != nil, let certificate {
      try section.source.refuse(
        certificate.refused("must not stand beside a key: give a key or a certificate"))
      // Perhaps the key is to go: then nothing of it is missing.
      for name in tokenFields where !section.has(name) {
        section.source.silence(section.path(to: name))
      }
    }
    if certificate != nil, token == nil {
      let file = try section.requiredFile("certificate_file", "the .p12 or .pem of the app")
      let passwordFile = try section.file("password_file")
      if section.source.hasError(at: section.path(to: "password_file")) {
        // Without its password it cannot be read.
        section.source.silence(section.path(to: "certificate_file"))
      }
      return .certificate(file: file, passwordFile: passwordFile)
    }
    if token == nil {
      try section.source.refuse(
        section.missing(
          "key_file", "is missing: give key_file, key_id and team_id, or a certificate_file"))
      // Nothing more is to be said of a credential that is not there.
      return .token(keyFile: "", keyID: "", teamID: "")
    }
    return .token(
      keyFile: try section.requiredFile("key_file", "the .p8 signing key"),
      keyID: try appleID("key_id", "the ten characters in the name of the .p8", section),
      teamID: try appleID("team_id", "the ten characters of the Apple team", section))
  }

  private static func first(
    _ names: [String], _ section: ConfigurationSection
  ) throws(ConfigurationError) -> ConfigurationScalar? {
    for name in names {
      if let scalar = try section.scalar(name) { return scalar }
    }
    return nil
  }

  private static func appleID(
    _ name: String, _ why: String, _ section: ConfigurationSection
  ) throws(ConfigurationError) -> String {
    try section.checked(try section.required(name, why)) { (text) throws(InvalidField) in
      try AppFieldRule.checkAppleID(text)
    }
  }

  private static func topic(_ section: ConfigurationSection) throws(ConfigurationError) -> String {
    try section.checked(try section.required("topic", "the bundle id of the app")) {
      (text) throws(InvalidField) in try AppFieldRule.checkBundleID(text)
    }
  }
}
