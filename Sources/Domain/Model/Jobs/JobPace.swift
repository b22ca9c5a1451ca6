/// How fast a job is sent, at most, beside the rates of its networks.
package enum JobPace: Sendable, Equatable {
  /// Pushes a second of the whole fleet.
  case perSecond(Int)
  /// The pushes are spread evenly over so many seconds from its start.
  case spread(seconds: Int)
}

extension JobPace {
  static let fields = ["pushes_per_second", "spread_over_seconds"]

  /// Nil when the job says neither.
  static func read(_ reader: FieldReader) throws(InvalidField) -> JobPace? {
    let perSecond = try reader.integer("pushes_per_second", in: 1...Limits.pushesPerSecondMax)
    let seconds = try reader.integer("spread_over_seconds", in: 1...Limits.spreadSecondsMax)
    switch (perSecond, seconds) {
    case (nil, nil): return nil
    case (let perSecond?, nil): return .perSecond(perSecond)
    case (nil, let seconds?): return .spread(seconds: seconds)
    case (_?, _?):
      throw reader.refused("spread_over_seconds", "cannot stand beside pushes_per_second")
    }
  }

  /// Adds its field to a job's.
  func write(to object: inout JSONObject) {
    switch self {
    case .perSecond(let count): object["pushes_per_second"] = .integer(count)
    case .spread(let seconds): object["spread_over_seconds"] = .integer(seconds)
    }
  }
}
