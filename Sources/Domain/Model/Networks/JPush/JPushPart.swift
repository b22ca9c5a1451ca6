/// The part of a job for JPush alone, merged over the common notification.
package struct JPushPart: Sendable, Equatable {
  /// Merged into the request of `/v3/push`; it names no audience and no cid.
  package var payload: JSONObject

  package init(payload: JSONObject) { self.payload = payload }
}

extension JobContent {
  /// Its part for JPush alone.
  package var jpush: JPushPart? {
    get { parts.jpush }
    _modify { yield &parts.jpush }
  }
}

extension JPushPart: NetworkPart {
  static let network = Network.jpush
  /// The worker names the installations, and gives each request an id that makes its retry idempotent.
  private static let worker = [
    "audience": "the job's audience says who receives it",
    "cid": "the worker sets it",
  ]

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    guard var payload = json.mapValue else {
      throw InvalidField(pointer: pointer, message: "must be an object, is \(json.kindName)")
    }
    for member in payload.members {
      guard let reason = Self.worker[member.name] else { continue }
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: pointer),
        message: "must be left out: \(reason)")
    }
    payload = try Self.withMaps(payload, ["notification", "message", "options"], at: pointer)
    if let notification = payload["notification"]?.objectValue {
      let place = FieldPointer.child("notification", of: pointer)
      payload["notification"] = .object(
        try Self.withMaps(notification, ["android", "ios", "hmos"], at: place))
    }
    payload = try Self.checkedExtras(payload, at: pointer)
    // JPush says of a device of another platform what it says of one that is gone.
    if let platform = payload["platform"], platform != .string("all") {
      throw InvalidField(
        pointer: FieldPointer.child("platform", of: pointer),
        message: "must be \"all\", or left out: the job's audience says who receives it")
    }
    if let options = payload["options"]?.objectValue, options["apns_production"] != nil {
      throw InvalidField(
        pointer: FieldPointer.child("options", of: pointer) + "/apns_production",
        message: "must be left out: the environment of each installation says it")
    }
    self.init(payload: payload)
  }

  func json() -> JSONValue { .object(payload) }

  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField) {
    payload = try table.marked(payload, at: "/jpush")
  }

  /// Checks what reaches the app beside the text, wherever the request may hold it: in a message, in a notification's part
  /// for a platform, and in what is shown in their place.
  /// - Returns: the object, with empty `extras` as an object.
  private static func checkedExtras(
    _ object: JSONObject, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    var result = object
    for member in object.members {
      let place = FieldPointer.child(member.name, of: pointer)
      if member.name == "extras", let extras = member.value.mapValue {
        try ReservedDataKeys.check(extras, at: place)
        result[member.name] = .object(extras)
      } else if let value = member.value.objectValue {
        result[member.name] = .object(try checkedExtras(value, at: place))
      }
    }
    return result
  }

  /// Checks that members are objects: laid over the common part, anything else would take the place of all that is there.
  /// - Returns: the object, with an empty object for each of these that is an empty array.
  private static func withMaps(
    _ object: JSONObject, _ names: [String], at pointer: String
  ) throws(InvalidField) -> JSONObject {
    var object = object
    for name in names {
      guard let value = object[name] else { continue }
      guard let map = value.mapValue else {
        throw InvalidField(
          pointer: FieldPointer.child(name, of: pointer),
          message: "must be an object, is \(value.kindName)")
      }
      object[name] = .object(map)
    }
    return object
  }
}
