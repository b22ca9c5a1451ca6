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
    self.init(payload: payload)
  }
}
