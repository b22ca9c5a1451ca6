package import Model
internal import PushpoolConfiguration

extension ConfigurationCheck {
  /// Returns all of it as one object.
  package var json: JSONValue {
    .object([
      "file": .string(file), "ok": .bool(isRight),
      "apps": .integer(configuration?.apps.count ?? 0),
      "errors": .array(
        errors.map { error in
          .object([
            "file": .string(error.file), "line": error.line.map { .integer($0) } ?? .null,
            "field": .string(error.field), "message": .string(error.message),
          ])
        }),
      "errors_omitted": .integer(omitted),
      "warnings": .array(warnings.map { .string($0) }),
    ])
  }
}
