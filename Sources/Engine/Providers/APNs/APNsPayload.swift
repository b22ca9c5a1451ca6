import Model

/// The JSON body of a push to APNs and the push type that it asks for.
struct APNsPayload {
  private(set) var object: JSONObject
  let pushType: APNsPushType

  /// Builds the payload of the common notification and lays `apns.payload` over it.
  ///
  /// What shows nothing becomes a background push, unless the job names a push type.
  /// - Parameter createdAtMs: when the job was created; an event that says nothing else happened then.
  init(_ content: JobContent, createdAtMs: Int64) {
    object = content.event?.apnsPayload(createdAtMs: createdAtMs) ?? JSONObject()
    if let notification = content.notification {
      for entry in notification.data { object[entry.name] = .string(entry.value) }
      // For the app's notification service extension, which fetches it.
      if let image = notification.image, object["image"] == nil { object["image"] = .string(image) }
      object["aps"] = .object(Self.aps(notification))
    }
    if let payload = content.apns?.payload { object.merge(payload) }
    if let topic = content.namedTopic { object[ReceivedTopic.name] = .string(topic) }
    var aps = object["aps"]?.objectValue ?? [:]
    let isVisible = aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
    pushType = content.apns?.pushType ?? (isVisible ? .alert : .background)
    if pushType == .background, aps["content-available"] == nil {
      aps["content-available"] = .integer(1)
      object["aps"] = .object(aps)
    }
  }

  private static func aps(_ notification: Notification) -> JSONObject {
    var alert = JSONObject()
    alert.add(notification.title.map { .string($0) }, for: "title")
    alert.add(notification.body.map { .string($0) }, for: "body")
    var aps = JSONObject()
    if !alert.isEmpty { aps.add(.object(alert), for: "alert") }
    aps.add(notification.badge?.rendered(), for: "badge")
    aps.add(notification.sound.map { .string($0) }, for: "sound")
    aps.add(notification.category.map { .string($0) }, for: "category")
    aps.add(notification.threadID.map { .string($0) }, for: "thread-id")
    if notification.contentAvailable { aps.add(.integer(1), for: "content-available") }
    if notification.mutableContent || notification.image != nil {
      aps.add(.integer(1), for: "mutable-content")
    }
    return aps
  }
}

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
