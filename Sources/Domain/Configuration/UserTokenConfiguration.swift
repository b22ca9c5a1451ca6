internal import Model
internal import Yams

/// A key that an app's backend signs its users' tokens (JWT) with. One algorithm a key.
package struct UserTokenConfiguration: Sendable, Equatable {
  package enum Algorithm: String, Sendable, CaseIterable {
    /// A secret of at least 32 bytes, which the backend has too.
    case hs256 = "HS256"
    /// A public key in PEM, of the curve P-256.
    case es256 = "ES256"
  }

  /// The app whose users it is for.
  package var app: String
  package var algorithm: Algorithm
  /// The path of the secret or of the public key.
  package var keyFile: String
  /// The `kid` of the tokens that are signed with it; nil for tokens without one.
  package var keyID: String?

  package init(app: String, algorithm: Algorithm, keyFile: String, keyID: String? = nil) {
    self.app = app
    self.algorithm = algorithm
    self.keyFile = keyFile
    self.keyID = keyID
  }
}

extension UserTokenConfiguration {
  private static let fields = ["app", "algorithm", "key_file", "key_id"]

  static func list(
    in serve: ConfigurationSection
  ) throws(ConfigurationError) -> [UserTokenConfiguration] {
    let name = "user_tokens"
    guard let node = serve.node(name), !ConfigurationSection.isNull(node) else { return [] }
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(
        file: serve.source.file, line: node.mark?.line, field: serve.path(to: name),
        message: message)
    }
    guard let items = node.sequence else {
      throw refused("must be a list of keys, each beginning with \"- app:\"")
    }
    guard items.count <= ConfigurationLimits.userTokensMax else {
      throw refused("must be at most \(ConfigurationLimits.userTokensMax) keys, are \(items.count)")
    }
    var list: [UserTokenConfiguration] = []
    var seen: Set<String> = []
    var owners: Set<String> = []
    let beginning = serve.variable(for: name)
    for (position, item) in items.enumerated() {
      // Where all errors are wanted, that of one key leaves the others to be read.
      try serve.source.reading(else: ()) { () throws(ConfigurationError) in
        let field = "\(serve.path(to: name))[\(position)]"
        // The variables of the unnamed section do not exist: no name has a character that becomes "[".
        let unnamed = try ConfigurationSection(
          item, source: serve.source, field: field, variables: "[", known: fields)
        let (app, keyID) = try names(in: unnamed)
        guard seen.insert("\(app.text) \(keyID?.text ?? "")").inserted else {
          throw (keyID ?? app).refused(
            "the same app and key_id occur twice: give each key of an app a key_id of its own")
        }
        let words = [app.text] + (keyID.map { [$0.text] } ?? [])
        let variables = ([beginning] + words.map(ConfigurationSource.variableWord)).joined(
          separator: "_")
        if !owners.insert(variables).inserted,
          serve.source.hasVariables(beginning: variables + "_")
        {
          throw app.refused(
            "goes by the same variables \(variables)_… as another key: unset them or rename one")
        }
        let section = try ConfigurationSection(
          item, source: serve.source, field: field, variables: variables, known: fields)
        list.append(
          try UserTokenConfiguration(app: app.text, keyID: keyID?.text, in: section))
      }
    }
    return list
  }

  /// The names that an entry goes by, which come from the file alone, since its variables go by them.
  private static func names(
    in section: ConfigurationSection
  ) throws(ConfigurationError) -> (app: ConfigurationScalar, keyID: ConfigurationScalar?) {
    guard let app = try section.scalar("app") else {
      throw ConfigurationError(
        file: section.source.file, line: section.line, field: section.path(to: "app"),
        message: "is missing: name the app whose users it is for")
    }
    do { try TextRule.checkApp(app.text) } catch { throw app.refused(error.message) }
    let keyID = try section.scalar("key_id")
    if let keyID {
      guard (1...ConfigurationLimits.keyIDBytesMax).contains(keyID.text.utf8.count),
        TextRule.isWord(keyID.text, others: "._-")
      else {
        throw keyID.refused(
          "must be 1 to \(ConfigurationLimits.keyIDBytesMax) ASCII letters, digits or . _ -")
      }
    }
    return (app, keyID)
  }

  private init(
    app: String, keyID: String?, in section: ConfigurationSection
  ) throws(ConfigurationError) {
    let scalar = try section.required("algorithm", "HS256 or ES256")
    guard let algorithm = Algorithm(rawValue: scalar.text) else {
      throw scalar.refused("must be HS256 or ES256, is \(ConfigurationSection.quoted(scalar.text))")
    }
    let keyFile =
      switch algorithm {
      case .hs256:
        try section.requiredFile("key_file", "a file with the secret, of at least 32 bytes")
      case .es256:
        try section.requiredFile("key_file", "the public key, in PEM", isPublic: true)
      }
    self.init(app: app, algorithm: algorithm, keyFile: keyFile, keyID: keyID)
  }
}
