import Model

/// The `message` of `messages:send`, without its target.
///
/// The common part maps to `notification` and `android`; what shows nothing becomes a data message.
/// Apple's own fields have no counterpart on Android and are left out: `fcm.message` can say anything else.
struct FCMMessage {
  private(set) var object = JSONObject()

  init(_ content: JobContent, createdAtMs: Int64, nowMs: Int64) {
    let notification = content.notification
    let isVisible = notification?.title != nil || notification?.body != nil
    if let notification {
      if isVisible {
        var visible = JSONObject()
        visible["title"] = notification.title.map { .string($0) }
        visible["body"] = notification.body.map { .string($0) }
        visible["image"] = notification.image.map { .string($0) }
        object["notification"] = .object(visible)
      }
      if !notification.data.isEmpty {
        var data = JSONObject()
        for entry in notification.data { data[entry.name] = .string(entry.value) }
        object["data"] = .object(data)
      }
    }
    var android = JSONObject()
    if let event = content.event {
      object["data"] = .object(event.longNamed(createdAtMs: createdAtMs))
      // High priority is for what people see: FCM takes it away from an app that uses it for anything else.
      android["priority"] = .string("NORMAL")
    }
    if isVisible, let notification {
      android["priority"] = .string("HIGH")
      var shown = JSONObject()
      shown["sound"] = notification.sound.map { .string($0) }
      shown["notification_count"] = notification.badge?.rendered()
      if !shown.isEmpty { android["notification"] = .object(shown) }
    }
    android["ttl"] = Self.ttl(content.expiry, createdAtMs: createdAtMs, nowMs: nowMs)
    android["collapse_key"] = content.collapseID.map { .string($0) }
    if !android.isEmpty { object["android"] = .object(android) }
    if let own = content.fcm { object.merge(own.message) }
    if let topic = content.namedTopic {
      object.merge(["data": .object([ReceivedTopic.name: .string(topic)])])
    }
  }

  /// Whole seconds that are left, at most the four weeks that FCM stores.
  private static func ttl(_ expiry: Expiry?, createdAtMs: Int64, nowMs: Int64) -> JSONValue? {
    guard let expiry else { return nil }
    let leftMs = expiry.expiresAtMs(createdAtMs: createdAtMs) - nowMs
    let seconds = min(max(0, leftMs / 1_000), Int64(Limits.ttlSecondsMax))
    return .string("\(seconds)s")
  }
}
