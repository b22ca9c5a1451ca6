internal import Model

/// The meaning and the shape of what stands in paths, for the document. The routes check it by the rules of the model.
struct PathParameter {
  let meaning: String
  let schema: JSONValue

  init(_ name: String, in pattern: PathPattern) {
    switch name {
    case "app":
      self.init("The app, as the configuration names it") {
        InstallationSchema.word("._-", bytesMax: Limits.appBytesMax, $0)
      }
    case "network":
      self.init("The push network") { Schema.choice(Network.allCases.map(\.rawValue), $0) }
    case "token":
      self.init("The device token, by the rules of its network. Percent-encode : and %") {
        TokenSchema.any($0)
      }
    case "user":
      self.init("The user's id, percent-encoded") {
        InstallationSchema.text(bytesMax: Limits.userBytesMax, $0)
      }
    case "topic":
      self.init("The topic") { InstallationSchema.word("_-", bytesMax: Limits.topicBytesMax, $0) }
    case "bucket":
      self.init("The bucket of push-to-app events") { _ in
        Self.text(bytesMax: Limits.eventTextBytesMax)
      }
    case "entry":
      self.init("The name of the dead letter, percent-encoded") { _ in
        Self.matching(LetterSchema.namePattern)
      }
    case "id" where pattern.segments.contains(.literal("jobs")):
      self.init("The job's id, percent-encoded") { _ in
        Self.matching("^[!-~]{1,\(Limits.jobIDBytesMax)}$")
      }
    default: self.init("The \(name)") { _ in Self.text(bytesMax: ServerLimits.pathBytesMax) }
    }
  }

  private init(_ meaning: String, _ schema: (_ meaning: String) -> JSONValue) {
    self.meaning = "\(meaning)."
    self.schema = schema(meaning)
  }

  /// Characters are at most as many as bytes.
  private static func text(bytesMax: Int) -> JSONValue {
    .object([
      "type": .string("string"), "minLength": .integer(1), "maxLength": .integer(bytesMax),
    ])
  }

  private static func matching(_ pattern: String) -> JSONValue {
    .object(["type": .string("string"), "pattern": .string(pattern)])
  }
}
