/// The part of a job for FCM alone, merged over the common notification.
package struct FCMPart: Sendable, Equatable {
  /// Merged into the `message` of `messages:send`; it names no target.
  package var message: JSONObject

  package init(message: JSONObject) { self.message = message }
}

extension FCMPart {
  /// Each message goes to one installation; the worker names it.
  private static let targets = ["token", "topic", "condition"]

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(json, at: pointer, known: ["message"])
    guard let message = try reader.map("message") else {
      throw reader.refused("message", "is missing: give the members of FCM's message")
    }
    let place = reader.pointer(to: "message")
    for name in Self.targets where message[name] != nil {
      throw InvalidField(
        pointer: FieldPointer.child(name, of: place),
        message: "must be left out: the job's audience says who receives it")
    }
    if let data = message["data"], data != .null {
      guard let entries = data.mapValue else {
        throw InvalidField(
          pointer: place + "/data", message: "must be an object, is \(data.kindName)")
      }
      _ = try Notification.DataEntry.entries(of: entries, at: place + "/data")
    }
    self.init(message: message)
  }
}
