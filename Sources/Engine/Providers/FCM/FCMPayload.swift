import Model

/// What FCM counts of a message against its limit: names and values of data and of the notification, each with the bytes that
/// frame it.
///
/// Google documents the limit and not the counting. What is known was measured by others (stackoverflow.com, questions
/// 31264206 and those that link to it): 4,051 bytes of data under one name, 6 bytes and the name's for each further one, and
/// names of the notification as the device receives them, behind `gcm.notification.`.
struct FCMPayload {
  private var text: [UInt8] = []
  private var entries = 0

  private static let messageFramingBytes = 39
  private static let entryFramingBytes = 6
  private static let notificationPrefix = Array("gcm.notification.".utf8)

  /// - Parameter message: without its target.
  init(_ message: JSONObject) {
    let common = Self(entriesOf: message["data"])
    let android = Self(entriesOf: message["android"]?.objectValue?["data"])
    // Those for Android take the place of the others on Android alone.
    self = common.bytes < android.bytes ? android : common
    append(message["notification"], prefix: Self.notificationPrefix)
  }

  private init(entriesOf value: JSONValue?) { append(value, prefix: []) }

  private var bytes: Int { text.count + entries * Self.entryFramingBytes }

  private mutating func append(_ value: JSONValue?, prefix: [UInt8]) {
    for member in value?.objectValue?.members ?? [] {
      guard case .string(let value) = member.value else { continue }
      text += prefix
      text += member.name.utf8
      text += value.utf8
      entries += 1
    }
  }

  /// The limit, which holds when texts are filled in, too.
  var limit: RenderedPush.Limit {
    RenderedPush.Limit(
      text: text, bytesMax: ProviderLimits.fcmPayloadBytesMax, isJSON: false,
      framingBytes: entries == 0 ? 0 : Self.messageFramingBytes + entries * Self.entryFramingBytes,
      part: "payload of notification and data")
  }
}
