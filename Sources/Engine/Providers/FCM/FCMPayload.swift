import Model

/// The parts of a message that FCM counts against its limit: names and values of data and of the notification.
///
/// Google documents the limit and not the counting. Others have measured it, and do not agree: names and values alone, those of
/// a notification behind `gcm.notification.` (stackoverflow.com, question 31264206); or 4,051 bytes of data under one name, and
/// 6 bytes and the name for each further one. So a message that only the second count refuses is refused when its job is
/// admitted, where somebody can shorten it; of what was admitted, FCM itself is the judge.
struct FCMPayload {
  private var text: [UInt8] = []
  private var entries = 0

  private static let messageFramingBytes = 39
  private static let entryFramingBytes = 6
  private static let notificationPrefix = Array("gcm.notification.".utf8)

  private init(data: JSONValue?, notification: JSONValue?) {
    append(data, prefix: [])
    append(notification, prefix: Self.notificationPrefix)
  }

  private mutating func append(_ value: JSONValue?, prefix: [UInt8]) {
    for member in value?.objectValue?.members ?? [] {
      guard case .string(let value) = member.value else { continue }
      text += prefix
      text += member.name.utf8
      text += value.utf8
      entries += 1
    }
  }

  private var limit: RenderedPush.Limit {
    RenderedPush.Limit(
      text: text, bytesMax: FCMLimits.payloadBytesMax, isJSON: false,
      framingBytes: entries == 0 ? 0 : Self.messageFramingBytes + entries * Self.entryFramingBytes,
      part: "payload of notification and data")
  }

  /// The limits of a message, which hold when texts are filled in, too. Data for Android takes the place of the other on Android
  /// alone, so each has a limit.
  /// - Parameter message: without its target.
  static func limits(of message: JSONObject) -> [RenderedPush.Limit] {
    let android = message["android"]?.objectValue?["data"]
    let data = android == nil ? [message["data"]] : [message["data"], android]
    return data.map { Self(data: $0, notification: message["notification"]).limit }
  }
}
