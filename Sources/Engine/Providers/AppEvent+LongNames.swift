import Model

extension AppEvent {
  /// Returns the members for networks whose data are strings.
  func longNamed(createdAtMs: Int64) -> JSONObject {
    var members = JSONObject()
    for (field, text) in texts { members[field.longName] = .string(text) }
    members[AppEventField.when.longName] = .string(String(whenMs ?? createdAtMs))
    return members
  }
}
