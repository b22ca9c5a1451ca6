/// When a job with `deliver_local` is sent to which time zones. It is made once, as the job is admitted, and stays with the job:
/// so all workers go by the same rules, whatever tzdata each has, and each zone has its time once.
package struct LocalSchedule: Sendable, Equatable {
  /// A start of the job, for the installations of some zones.
  package struct Round: Sendable, Equatable {
    /// Epoch milliseconds.
    package let atMs: Int64
    /// In the order of their names; may be empty, when only installations without a zone receive it then.
    package let zones: [String]
  }

  /// In order of time.
  package let rounds: [Round]
  /// Zones that get nothing, since the time has passed there.
  package let missed: [String]
  /// The round of installations without a zone, or with one that is not known; nil when they get nothing.
  package let roundWithoutZone: Int?
}

extension LocalSchedule {
  /// Names of zones hold no spaces.
  private static let separator: Character = " "
  private static let fields = ["rounds", "missed", "round_without_zone"]
  private static let roundFields = ["at", "zones"]

  /// Reads it as it stands in the content of a job; nil when the job has none.
  init?(_ value: JSONValue?, at pointer: @autoclosure () -> String) throws(InvalidField) {
    guard let value else { return nil }
    let reader = try FieldReader(value, at: pointer(), known: Self.fields)
    var rounds: [Round] = []
    let items = try reader.array("rounds") ?? []
    guard (1...Limits.roundsMax).contains(items.count) else {
      throw reader.refused("rounds", "must be 1 to \(Limits.roundsMax) rounds, are \(items.count)")
    }
    for (position, item) in items.enumerated() {
      let round = try FieldReader(
        item, at: FieldPointer.element(position, of: reader.pointer(to: "rounds")),
        known: Self.roundFields)
      rounds.append(
        Round(atMs: try round.instantMs("at") ?? 0, zones: try Self.names("zones", round)))
    }
    self.rounds = rounds
    missed = try Self.names("missed", reader)
    roundWithoutZone = try reader.integer("round_without_zone", in: 0...rounds.count - 1)
  }

  private static func names(_ field: String, _ reader: FieldReader) throws(InvalidField) -> [String]
  {
    (try reader.string(field) ?? "").split(separator: separator).map { String($0) }
  }

  func json() -> JSONValue {
    var object = JSONObject()
    object["rounds"] = .array(
      rounds.map { round in
        var object = JSONObject()
        object["at"] = .integer(round.atMs)
        object["zones"] = .string(round.zones.joined(separator: String(Self.separator)))
        return .object(object)
      })
    if !missed.isEmpty {
      object["missed"] = .string(missed.joined(separator: String(Self.separator)))
    }
    object["round_without_zone"] = roundWithoutZone.map { .integer($0) }
    return .object(object)
  }
}
