internal import Model

/// Checks a push as APNs does (developer.apple.com, "Sending notification requests to APNs").
///
/// Values that are the same in push after push are compared with the last good ones and not looked
/// into again.
struct APNsValidator {
  private static let pathPrefix: StaticString = "/3/device/"

  /// The push types and how their topics end.
  private static let pushTypes: [(type: StaticString, topicSuffix: StaticString)] = [
    ("alert", ""), ("background", ""), ("voip", ".voip"), ("complication", ".complication"),
    ("fileprovider", ".pushkit.fileprovider"), ("mdm", ""),
    ("liveactivity", ".push-type.liveactivity"), ("location", ".location-query"),
    ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"),
    ("controls", ".push-type.controls"),
  ]

  /// The bundle IDs that may be pushed to; empty allows every one.
  let topics: [String]
  private var goodTopic = RememberedBytes()
  private var goodPushType = RememberedBytes()
  private var isVoIP = false
  private var isBackground = false
  private var goodPayload = RememberedBytes()
  private var payloadHash: UInt64 = 0

  init(topics: [String]) {
    self.topics = topics
  }

  /// The device token of a request's path.
  static func token(
    method: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer
  ) throws(APNsReason) -> UnsafeRawBufferPointer {
    guard method.equals("POST") else { throw .methodNotAllowed }
    guard path.starts(with: pathPrefix) else {
      throw path.equals("/3/device") ? .missingDeviceToken : .badPath
    }
    let token = path.dropping(pathPrefix.utf8CodeUnitCount)
    guard !token.isEmpty else { throw .missingDeviceToken }
    guard token.count % 2 == 0, token.count >= 8,
      token.count <= SimulatorLimits.apnsTokenBytesMax, token.isHex
    else { throw .badDeviceToken }
    return token
  }

  /// Everything about the headers but the authorization.
  mutating func check(_ headers: APNsHeaders) throws(APNsReason) {
    guard !headers.hasDuplicates else { throw .duplicateHeaders }
    guard let topic = headers.topic, !topic.isEmpty else { throw .missingTopic }
    if !goodTopic.matches(topic) || !isSame(headers.pushType) {
      try check(topic: topic, pushType: headers.pushType)
    }
    if let priority = headers.priority {
      guard priority.equals("5") || (!isBackground && isForegroundPriority(priority)) else {
        throw .badPriority
      }
    }
    if let expiration = headers.expiration, expiration.decimal == nil { throw .badExpirationDate }
    if let collapseID = headers.collapseID {
      guard (1...SimulatorLimits.collapseIDBytesMax).contains(collapseID.count) else {
        throw .badCollapseID
      }
    }
    if let id = headers.id, !id.isUUID { throw .badMessageID }
  }

  private func isForegroundPriority(_ priority: UnsafeRawBufferPointer) -> Bool {
    priority.equals("10") || priority.equals("1")
  }

  private func isSame(_ pushType: UnsafeRawBufferPointer?) -> Bool {
    goodPushType.matches(pushType ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private mutating func check(
    topic: UnsafeRawBufferPointer, pushType: UnsafeRawBufferPointer?
  ) throws(APNsReason) {
    goodTopic.forget()
    guard topic.allSatisfy(Self.isTopicCharacter) else { throw .badTopic }
    var suffix: StaticString = ""
    if let pushType {
      guard let known = Self.pushTypes.first(where: { pushType.equals($0.type) }) else {
        throw .invalidPushType
      }
      suffix = known.topicSuffix
    }
    guard topic.ends(with: suffix) else { throw .topicDisallowed }
    let bundleID = topic.taking(0..<topic.count - suffix.utf8CodeUnitCount).text
    // Without a push type the suffix cannot be told from the bundle ID.
    guard topics.isEmpty || pushType == nil || topics.contains(bundleID) else {
      throw .topicDisallowed
    }
    isVoIP = pushType?.equals("voip") ?? false
    isBackground = pushType?.equals("background") ?? false
    goodTopic.remember(topic)
    goodPushType.remember(pushType ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// The payload, after the headers of the same request.
  /// - Returns: the payload's fingerprint.
  mutating func check(payload: UnsafeRawBufferPointer) throws(APNsReason) -> UInt64 {
    guard !payload.isEmpty else { throw .payloadEmpty }
    let bytesMax =
      isVoIP ? SimulatorLimits.apnsVoIPPayloadBytesMax : SimulatorLimits.apnsPayloadBytesMax
    guard payload.count <= bytesMax else { throw .payloadTooLarge }
    if goodPayload.matches(payload) { return payloadHash }
    guard JSONWalker.isObject(payload) else { throw .payloadEmpty }
    goodPayload.remember(payload)
    payloadHash = BodyHash.of(payload)
    return payloadHash
  }

  private static func isTopicCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
