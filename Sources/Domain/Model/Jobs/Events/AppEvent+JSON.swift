extension AppEvent {
  /// The `kind` of a job that tells of an event.
  static let jobKind = "push_to_app"
  private static let fields = AppEventField.allCases.map(\.name)

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    try Self.refuseCustomisation(of: json, at: pointer)
    let reader = try FieldReader(json, at: pointer, known: Self.fields)
    self.init(
      bucketID: try Self.required(.bucketID, "the bucket that the change is in", reader),
      bucketType: try Self.choice(.bucketType, of: BucketType.self, reader),
      type: try Self.required(.type, "what has happened, such as DATA_OBJECT_UPDATED", reader),
      objectID: try Self.text(.objectID, reader),
      scopeApp: try Self.required(.scopeApp, "the app as its backend calls it", reader),
      scope: try Self.scope(reader),
      sender: try Self.text(.sender, reader),
      whenMs: try reader.recentInstantMs(AppEventField.when.name))
  }

  private static func text(
    _ field: AppEventField, _ reader: FieldReader
  ) throws(InvalidField) -> String? {
    try reader.boundedText(field.name, bytesMax: Limits.eventTextBytesMax)
  }

  private static func required(
    _ field: AppEventField, _ meaning: String, _ reader: FieldReader
  ) throws(InvalidField) -> String {
    guard let text = try text(field, reader) else {
      throw reader.refused(field.name, "is missing: name \(meaning)")
    }
    return text
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ field: AppEventField, of type: Choice.Type, _ reader: FieldReader
  ) throws(InvalidField) -> Choice where Choice.RawValue == String {
    guard let choice = try reader.choice(field.name, of: type) else {
      let names = type.allCases.map(\.rawValue).joined(separator: ", ")
      throw reader.refused(field.name, "is missing: give one of \(names)")
    }
    return choice
  }

  /// Who within the app stands there exactly when the type says that there is somebody.
  private static func scope(_ reader: FieldReader) throws(InvalidField) -> AppEventScope {
    let kind = try choice(.scopeType, of: AppEventScope.Kind.self, reader)
    for other in AppEventScope.Kind.allCases where other != kind {
      guard let field = other.owner, reader.has(field.name) else { continue }
      throw reader.refused(
        field.name,
        "must be left out, since object_scope_type is \(kind.rawValue): it is for \(other.rawValue)"
      )
    }
    func owner(_ field: AppEventField) throws(InvalidField) -> String {
      try required(
        field, "whom the bucket belongs to, since object_scope_type is \(kind.rawValue)", reader)
    }
    return switch kind {
    case .app: .app
    case .user: .user(try owner(.scopeUser))
    case .group: .group(try owner(.scopeGroup))
    case .thing: .thing(try owner(.scopeThing))
    }
  }

  func json() -> JSONValue {
    var object = JSONObject()
    for (field, text) in texts { object[field.name] = .string(text) }
    object[AppEventField.when.name] = whenMs.map { .integer($0) }
    return .object(object)
  }
}
