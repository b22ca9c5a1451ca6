import Model

/// The body of `/v3/push` without its audience (docs.jiguang.cn/jpush/server/push/rest_api_v3_push).
///
/// The common part maps to `notification.android` and `notification.ios`. What shows nothing becomes a custom message
/// for the app, beside a notification that wakes it on iOS, where custom messages reach only an app that is open.
struct JPushRequest {
  /// Every platform: for a device that `platform` leaves out, JPush says the same as for one that is gone.
  private(set) var object: JSONObject = ["platform": .string("all")]

  /// `message.msg_content` is required, and what the app is to read is in `extras`.
  static let messageContent = "data"
  /// `style` of an Android notification with a picture.
  private static let bigPicture = 3
  /// APNs's name for the system's own sound; Android plays it when it is told nothing.
  private static let usualSound = "default"

  /// - Parameter environment: of APNs; other platforms have one.
  init(
    _ content: JobContent, environment: PushEnvironment, createdAtMs: Int64, nowMs: Int64
  ) {
    if let notification = content.notification {
      if let alert = notification.body ?? notification.title {
        object["notification"] = .object([
          "alert": .string(alert), "android": .object(Self.android(notification, alert)),
          "ios": .object(Self.ios(notification)),
        ])
      } else {
        object["notification"] = .object(["ios": .object(Self.ios(notification))])
        object["message"] = .object(Self.message(notification))
      }
    }
    if let event = content.event { object.merge(event.jpushMembers(createdAtMs: createdAtMs)) }
    var options: JSONObject = ["apns_production": .bool(environment == .production)]
    options["time_to_live"] = Self.timeToLive(
      content.expiry, createdAtMs: createdAtMs, nowMs: nowMs)
    options["apns_collapse_id"] = content.collapseID.map { .string($0) }
    object["options"] = .object(options)
    if let own = content.jpush { object.merge(own.payload) }
    if let topic = content.namedTopic { tell(topic) }
  }

  /// Tells the app of the topic, in every part that the app comes to know of.
  private mutating func tell(_ topic: String) {
    let extras: JSONValue = .object(["extras": .object([ReceivedTopic.name: .string(topic)])])
    if let notification = object["notification"]?.objectValue {
      var parts = JSONObject()
      // A part that is missing is that of the common alert; without one nothing is shown there.
      for platform in ["android", "ios"]
      where notification[platform] != nil || notification["alert"] != nil {
        parts[platform] = extras
      }
      object.merge(["notification": .object(parts)])
    }
    if object["message"] != nil { object.merge(["message": extras]) }
  }

  private static func android(_ notification: Notification, _ alert: String) -> JSONObject {
    var android: JSONObject = ["alert": .string(alert)]
    if notification.body != nil { android["title"] = notification.title.map { .string($0) } }
    if let sound = notification.sound, sound != usualSound { android["sound"] = .string(sound) }
    android["badge_set_num"] = badge(notification)
    if let image = notification.image {
      android["style"] = .integer(bigPicture)
      android["big_pic_path"] = .string(image)
    }
    android["extras"] = extras(notification)
    return android
  }

  private static func ios(_ notification: Notification) -> JSONObject {
    var ios = JSONObject()
    if let title = notification.title {
      var alert: JSONObject = ["title": .string(title)]
      alert["body"] = notification.body.map { .string($0) }
      ios["alert"] = .object(alert)
    } else {
      // Required; an empty one is not shown.
      ios["alert"] = .string(notification.body ?? "")
    }
    ios["sound"] = notification.sound.map { .string($0) }
    ios["badge"] = badge(notification)
    ios["category"] = notification.category.map { .string($0) }
    ios["thread-id"] = notification.threadID.map { .string($0) }
    let isNoticed =
      notification.title != nil || notification.body != nil || notification.badge != nil
      || notification.sound != nil
    if notification.contentAvailable || !isNoticed { ios["content-available"] = .bool(true) }
    if notification.mutableContent || notification.image != nil {
      ios["mutable-content"] = .bool(true)
    }
    var extras = extras(notification)?.objectValue ?? [:]
    // For the app's notification service extension, which fetches it.
    if let image = notification.image, extras["image"] == nil { extras["image"] = .string(image) }
    if !extras.isEmpty { ios["extras"] = .object(extras) }
    return ios
  }

  private static func message(_ notification: Notification) -> JSONObject {
    var message: JSONObject = ["msg_content": .string(messageContent)]
    message["extras"] = extras(notification)
    return message
  }

  private static func badge(_ notification: Notification) -> JSONValue? {
    notification.badge?.rendered(atMost: JPushLimits.badgeMax)
  }

  private static func extras(_ notification: Notification) -> JSONValue? {
    guard !notification.data.isEmpty else { return nil }
    var extras = JSONObject()
    for entry in notification.data { extras[entry.name] = .string(entry.value) }
    return .object(extras)
  }

  /// Whole seconds that are left, at most what JPush keeps a message for.
  private static func timeToLive(
    _ expiry: Expiry?, createdAtMs: Int64, nowMs: Int64
  ) -> JSONValue? {
    guard let expiry else { return nil }
    let leftMs = expiry.expiresAtMs(createdAtMs: createdAtMs) - nowMs
    return .integer(min(max(0, leftMs / 1_000), JPushLimits.timeToLiveSecondsMax))
  }

  /// Whether there is anything in it to send.
  var hasContent: Bool { object["notification"] != nil || object["message"] != nil }

  /// The part that JPush counts for iOS: the member `ios` of the notification, name and braces included.
  var iosPart: [UInt8] {
    guard let ios = object["notification"]?.objectValue?["ios"] else { return [] }
    return Array(#""ios":"#.utf8) + ios.bytes()
  }

  /// The part that JPush counts for Android: notification and message together.
  var androidPart: [UInt8] {
    let parts = [object["notification"]?.objectValue?["android"], object["message"]]
    return parts.reduce(into: []) { $0 += $1?.bytes() ?? [] }
  }
}

extension AppEvent {
  /// The members of a push object that tell the app of it: a custom message, and what wakes the app on iOS, where custom
  /// messages reach only an app that is open. Nothing is shown on either.
  func jpushMembers(createdAtMs: Int64) -> JSONObject {
    let extras = JSONValue.object(longNamed(createdAtMs: createdAtMs))
    return [
      "notification": [
        "ios": ["alert": .string(""), "content-available": .bool(true), "extras": extras]
      ],
      "message": ["msg_content": .string(JPushRequest.messageContent), "extras": extras],
    ]
  }
}
