extension VersionRange {
  private static let example = "such as {\">=\": \"2.1\", \"<\": \"3\"}"

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    guard case .object = json else {
      throw InvalidField(
        pointer: pointer, message: "must be an object \(Self.example), is \(json.kindName)")
    }
    let reader = try FieldReader(json, at: pointer, known: Relation.allCases.map(\.rawValue))
    var bounds: [Bound] = []
    for relation in Relation.allCases {
      guard let text = try reader.string(relation.rawValue) else { continue }
      guard let version = DottedVersion(text) else {
        throw reader.refused(
          relation.rawValue,
          "must be 1 to \(Limits.versionNumbersMax) numbers with dots between them such as 2.1, is "
            + "\"\(FieldPointer.printable(text))\"")
      }
      bounds.append(Bound(relation: relation, version: version))
    }
    guard !bounds.isEmpty else {
      throw InvalidField(pointer: pointer, message: "must hold a version \(Self.example)")
    }
    self.init(bounds: bounds)
  }

  func json() -> JSONValue {
    var object = JSONObject()
    for bound in bounds { object[bound.relation.rawValue] = .string("\(bound.version)") }
    return .object(object)
  }
}
