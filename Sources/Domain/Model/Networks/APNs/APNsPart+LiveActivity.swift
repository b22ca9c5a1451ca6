/// The change that a push makes to a Live Activity.
package enum LiveActivityEvent: String, Sendable, CaseIterable {
  case start, update, end
}

extension APNsPart {
  /// `aps.event` of a push to a Live Activity; nil of any other.
  package var liveActivityEvent: LiveActivityEvent? {
    guard pushType == .liveactivity else { return nil }
    return payload?["aps"]?.objectValue?["event"]?.stringValue
      .flatMap { LiveActivityEvent(rawValue: $0) }
  }

  /// Times in a payload are epoch seconds; what is beyond is meant as milliseconds.
  private static let seconds: ClosedRange<Int64> = 1_000_000_000...9_999_999_999

  /// Checks what the system needs for a Live Activity. APNs accepts a push without it, and the device drops it unseen
  /// (developer.apple.com, "Starting and updating Live Activities with ActivityKit push notifications").
  func checkLiveActivity(at pointer: String) throws(InvalidField) {
    guard pushType == .liveactivity else { return }
    let place = pointer + "/payload/aps"
    guard let aps = payload?["aps"] else {
      throw InvalidField(
        pointer: place,
        message: "is missing: a Live Activity needs event, timestamp and content-state")
    }
    let reader = try FieldReader(
      aps, at: place, known: aps.objectValue?.members.map(\.name) ?? [])
    guard let event = try reader.choice("event", of: LiveActivityEvent.self) else {
      throw reader.refused("event", "is missing: start, update or end")
    }
    guard try Self.seconds("timestamp", reader) != nil else {
      throw reader.refused(
        "timestamp", "is missing: epoch seconds, by which the device drops an older update")
    }
    _ = try Self.seconds("dismissal-date", reader)
    _ = try Self.seconds("stale-date", reader)
    let needed: [String]
    switch event {
    case .start: needed = ["content-state", "attributes"]
    case .update: needed = ["content-state"]
    case .end: needed = []
    }
    for name in needed where try reader.anyObject(name) == nil {
      throw reader.refused(name, "is missing: the event \(event.rawValue) needs it")
    }
    guard event == .start else { return }
    let type = try reader.requiredString(
      "attributes-type", why: "the name of the app's ActivityAttributes")
    guard !type.isEmpty else { throw reader.refused("attributes-type", "must not be empty") }
    switch reader["alert"] {
    case .string(let text)? where !text.isEmpty: return
    case .object(let alert)? where !alert.isEmpty: return
    case nil:
      throw reader.refused("alert", "is missing: without it the device starts no activity")
    default:
      throw reader.refused("alert", "must be a text or an object with one, and not empty")
    }
  }

  private static func seconds(
    _ name: String, _ reader: FieldReader
  ) throws(InvalidField) -> Int64? {
    guard let value = reader[name] else { return nil }
    guard let seconds = value.int64Value, Self.seconds.contains(seconds) else {
      throw reader.refused(
        name, "must be epoch seconds, a whole number of 10 digits, is \(value.text())")
    }
    return seconds
  }
}
