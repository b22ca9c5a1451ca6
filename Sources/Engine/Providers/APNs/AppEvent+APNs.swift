import Model

extension AppEvent {
  /// The payload that tells the app of it: the short names beside `aps`, which wakes the app and shows nothing.
  func apnsPayload(createdAtMs: Int64) -> JSONObject {
    var payload = JSONObject()
    for (field, text) in texts { payload[field.shortName] = .string(text) }
    payload[AppEventField.when.shortName] = .integer(whenMs ?? createdAtMs)
    payload["aps"] = .object(["content-available": .integer(1)])
    return payload
  }
}
