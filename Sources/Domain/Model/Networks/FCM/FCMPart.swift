/// The part of a job for FCM alone, merged over the common notification.
package struct FCMPart: Sendable, Equatable {
  /// Merged into the `message` of `messages:send`; it names no target.
  package var message: JSONObject

  package init(message: JSONObject) { self.message = message }
}

extension JobContent {
  /// Its part for FCM alone.
  package var fcm: FCMPart? {
    get { parts.fcm }
    _modify { yield &parts.fcm }
  }
}

extension FCMPart: NetworkPart {
  static let network = Network.fcm
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

  func json() -> JSONValue { ["message": .object(message)] }

  /// A badge or a sound is shown beside a text only: alone they would be a message without anything in it.
  static func shows(_ notification: Notification) -> Bool {
    hasText(notification) || notification.contentAvailable || !notification.data.isEmpty
  }

  /// Android shows a badge beside the common text only.
  static func showsBadge(of notification: Notification) -> Bool { hasText(notification) }

  private static func hasText(_ notification: Notification) -> Bool {
    notification.title != nil || notification.body != nil
  }

  /// Not asked of what an older version has admitted: FCM itself answers to that.
  mutating func checkAdmission(of form: JobForm) throws(InvalidField) {
    let check = FCMMessageCheck(isForOne: form.isForOne, isFilledIn: form.isFilledIn)
    message = try check.checked(message, at: "/fcm/message")
  }

  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField) {
    message = try table.marked(message, at: "/fcm/message")
  }
}
