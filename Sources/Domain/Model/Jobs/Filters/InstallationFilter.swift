/// Which installations of its audience a job is for.
package struct InstallationFilter: Sendable, Equatable {
  /// All of these must hold of an installation.
  let required: [FilterCondition]
  /// None of these may hold: `not`.
  let excluded: [FilterCondition]

  /// Its conditions on what every binding says: the network and the environment.
  package var ofBindings: InstallationFilter {
    InstallationFilter(
      required: required.filter { $0.field.isOfBinding },
      excluded: excluded.filter { $0.field.isOfBinding })
  }
}

extension InstallationFilter {
  private static let fields = FilterCondition.names + ["not"]

  package init(json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(json, at: pointer, known: Self.fields)
    guard !reader.object.isEmpty else {
      throw InvalidField(
        pointer: pointer, message: "must hold a field: leave it out for the whole audience")
    }
    var excluded: [FilterCondition] = []
    if let not = reader["not"] {
      let others = try FieldReader(
        not, at: reader.pointer(to: "not"), known: FilterCondition.names)
      guard !others.object.isEmpty else {
        throw reader.refused("not", "must hold a field: leave it out to exclude nobody")
      }
      excluded = try FilterCondition.list(others)
    }
    self.init(required: try FilterCondition.list(reader), excluded: excluded)
    let bytes = self.json().bytes(canonical: true).count
    guard bytes <= Limits.filterBytesMax else {
      throw InvalidField(
        pointer: pointer,
        message: "must be at most \(Limits.filterBytesMax) bytes of JSON, is \(bytes)")
    }
  }

  package func json() -> JSONValue {
    var object = FilterCondition.json(required)
    if !excluded.isEmpty { object["not"] = .object(FilterCondition.json(excluded)) }
    return .object(object)
  }
}
