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
