internal import Model

/// The shapes of what stands in paths, for the document. The routes check them by the rules of the model.
enum PathParameter {
  static func schema(of name: String, in pattern: PathPattern) -> JSONValue {
    if let known = PathSchema.of(name) { return known }
    return switch name {
    case "bucket": bounded(1...Limits.eventTextBytesMax)
    case "entry": matching(LetterSchema.namePattern)
    case "id" where isJob(pattern): matching("^[!-~]{1,\(Limits.jobIDBytesMax)}$")
    default: bounded(1...ServerLimits.pathBytesMax)
    }
  }

  static func meaning(of name: String, in pattern: PathPattern) -> String {
    switch name {
    case "app": "The app."
    case "network": "The push network."
    case "token": "The device token, percent-encoded."
    case "user": "The user's id, percent-encoded."
    case "topic": "The topic."
    case "bucket": "The bucket of push-to-app events."
    case "entry": "The name of the dead letter, percent-encoded."
    case "id" where isJob(pattern): "The job's id, percent-encoded."
    default: "The \(name)."
    }
  }

  private static func isJob(_ pattern: PathPattern) -> Bool {
    pattern.segments.contains(.literal("jobs"))
  }

  /// Characters are at most as many as bytes.
  private static func bounded(_ bytes: ClosedRange<Int>) -> JSONValue {
    .object([
      "type": .string("string"), "minLength": .integer(1),
      "maxLength": .integer(bytes.upperBound),
    ])
  }

  private static func matching(_ pattern: String) -> JSONValue {
    .object(["type": .string("string"), "pattern": .string(pattern)])
  }
}
