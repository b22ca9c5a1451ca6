// A job that tells of an event: what else it may say.
extension AppEvent {
  /// Everything that changes neither what the push says nor how it shows.
  private static let companions: Set = [
    "id", "app", "audience", "kind", "event", "apns", "collapse_id", "ttl_seconds", "expires_at",
    "deliver_at", "deliver_local", "pushes_per_second", "spread_over_seconds", "retention_seconds",
    "topic", "channel", "filter",
    "environments", "dry_run", "on_unknown", "trace",
  ]

  /// Members of what people would see or hear, by the names that producers may look for.
  private static let customisations = [
    "alert", "title", "body", "sound", "badge", "category", "thread_id", "image", "data",
    "notification", "aps",
  ]

  private static let refusal =
    "must be left out of a push_to_app job, which shows nothing and cannot be customised: put what "
    + "people are to see into a job of its own, with a notification"

  /// From a job's `kind` and `event`; nil when it has neither. What would customise the push is refused.
  init?(reader: FieldReader) throws(InvalidField) {
    guard let kind = try reader.string("kind") else {
      guard !reader.has("event") else {
        throw reader.refused(
          "event", "needs a kind beside it: add \"kind\": \"\(Self.jobKind)\", or leave it out")
      }
      return nil
    }
    guard kind == Self.jobKind else {
      throw reader.refused(
        "kind",
        "must be \(Self.jobKind), or left out of a job with a notification, is "
          + "\"\(FieldPointer.printable(kind))\"")
    }
    for member in reader.object.members where !Self.companions.contains(member.name) {
      throw reader.refused(member.name, Self.refusal)
    }
    for member in reader["apns"]?.objectValue?.members ?? [] where member.name != "topic" {
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: reader.pointer(to: "apns")),
        message: Self.refusal + "; of the apns part only topic may stay")
    }
    guard let event = reader["event"] else {
      throw reader.refused(
        "event", "is missing: a job of kind \(Self.jobKind) says what has changed")
    }
    try self.init(json: event, at: reader.pointer(to: "event"))
  }

  /// Names that no field of a job has: their own complaint says more than that they are unknown.
  static func refuseCustomisation(ofJob json: JSONValue) throws(InvalidField) {
    guard json.objectValue?["kind"] == .string(jobKind) else { return }
    try refuseCustomisation(of: json, at: "")
  }

  static func refuseCustomisation(of json: JSONValue, at pointer: String) throws(InvalidField) {
    guard case .object(let object) = json else { return }
    for name in customisations where object[name] != nil {
      throw InvalidField(pointer: FieldPointer.child(name, of: pointer), message: refusal)
    }
  }
}
