/// Versions that keep to all of its bounds.
struct VersionRange: Sendable, Equatable {
  enum Relation: String, Sendable, CaseIterable {
    case atLeast = ">="
    case above = ">"
    case atMost = "<="
    case below = "<"
    case equal = "="
  }

  struct Bound: Sendable, Equatable {
    let relation: Relation
    let version: DottedVersion
  }

  /// At most one for each relation, in the order of `Relation.allCases`.
  let bounds: [Bound]

  func contains(_ version: DottedVersion) -> Bool {
    bounds.allSatisfy { bound in
      switch bound.relation {
      case .atLeast: version >= bound.version
      case .above: version > bound.version
      case .atMost: version <= bound.version
      case .below: version < bound.version
      case .equal: version == bound.version
      }
    }
  }
}

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
