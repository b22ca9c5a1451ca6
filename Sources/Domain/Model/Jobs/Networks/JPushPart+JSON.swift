extension JPushPart {
  /// The worker names the installations, and gives each request an id that makes its retry idempotent.
  private static let worker = [
    "audience": "the job's audience says who receives it",
    "cid": "the worker sets it",
  ]

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    guard case .object(let payload) = json else {
      throw InvalidField(pointer: pointer, message: "must be an object, is \(json.kindName)")
    }
    for member in payload.members {
      guard let reason = Self.worker[member.name] else { continue }
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: pointer),
        message: "must be left out: \(reason)")
    }
    try Self.checkObjects(payload, at: pointer)
    try Self.checkExtras(payload, at: pointer)
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

  /// Checks what reaches the app beside the text, wherever the request may hold it: in a message, in a notification's part
  /// for a platform, and in what is shown in their place.
  private static func checkExtras(
    _ object: JSONObject, at pointer: String
  ) throws(InvalidField) {
    for member in object.members {
      guard let value = member.value.objectValue else { continue }
      let place = FieldPointer.child(member.name, of: pointer)
      if member.name == "extras" {
        try ReservedDataKeys.check(value, at: place)
      } else {
        try checkExtras(value, at: place)
      }
    }
  }

  /// Laid over the common part, anything else than an object would take the place of all that is there.
  private static func checkObjects(
    _ payload: JSONObject, at pointer: String
  ) throws(InvalidField) {
    for name in ["notification", "message", "options"] {
      guard let value = payload[name] else { continue }
      let place = FieldPointer.child(name, of: pointer)
      guard case .object(let members) = value else {
        throw InvalidField(pointer: place, message: "must be an object, is \(value.kindName)")
      }
      guard name == "notification" else { continue }
      for name in ["android", "ios", "hmos"] {
        guard let value = members[name], value.objectValue == nil else { continue }
        throw InvalidField(
          pointer: FieldPointer.child(name, of: place),
          message: "must be an object, is \(value.kindName)")
      }
    }
  }
}
