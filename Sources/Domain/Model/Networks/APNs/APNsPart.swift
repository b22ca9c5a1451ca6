/// The part of a job for APNs alone, merged over the common notification.
package struct APNsPart: Sendable, Equatable {
  /// Merged into the payload; `aps` within it is merged member by member.
  package var payload: JSONObject?
  package var pushType: APNsPushType?
  /// In place of the topic of the configuration.
  package var topic: String?
  package var priority: APNsPriority?

  package init(
    payload: JSONObject? = nil, pushType: APNsPushType? = nil, topic: String? = nil,
    priority: APNsPriority? = nil
  ) {
    self.payload = payload
    self.pushType = pushType
    self.topic = topic
    self.priority = priority
  }
}

/// Values of the header `apns-push-type`.
package enum APNsPushType: String, Sendable, Hashable, CaseIterable {
  case alert, background, voip, complication, fileprovider, mdm, liveactivity, location
  case pushToTalk = "pushtotalk"
  case widgets, controls
}

/// Values of the header `apns-priority`.
package enum APNsPriority: Int, Sendable, Hashable, CaseIterable {
  case immediate = 10
  /// Considers the device's power; background pushes must use it.
  case conservesPower = 5
  /// Never wakes the device.
  case low = 1
}

extension JobContent {
  /// Its part for APNs alone.
  package var apns: APNsPart? {
    get { parts.apns }
    _modify { yield &parts.apns }
  }
}

extension APNsPart: NetworkPart {
  static let network = Network.apns
  static let fields = ["payload", "push_type", "topic", "priority"]

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(
      json.mapValue.map(JSONValue.object) ?? json, at: pointer, known: Self.fields)
    self.init(
      payload: try reader.map("payload").map(Self.withMaps),
      pushType: try reader.choice("push_type", of: APNsPushType.self),
      topic: try reader.word("topic", others: ".-", bytesMax: Limits.apnsTopicBytesMax),
      priority: try Self.priority(reader))
    if let aps = payload?["aps"], aps.objectValue == nil {
      throw reader.refused("payload", "aps must be an object, is \(aps.kindName)")
    }
    if let payload { try ReservedDataKeys.check(payload, at: reader.pointer(to: "payload")) }
    try checkBadge(reader)
    if pushType == .background, let priority, priority != .conservesPower {
      throw reader.refused(
        "priority", "must be 5 with push_type background, is \(priority.rawValue)")
    }
    try checkLiveActivity(at: pointer)
  }

  /// A payload whose members that are objects by Apple's rules are so where they are empty, too (`JSONValue.mapValue`).
  private static func withMaps(_ payload: JSONObject) -> JSONObject {
    var payload = payload
    guard var aps = payload["aps"]?.mapValue else { return payload }
    for name in ["content-state", "attributes"] {
      if let map = aps[name]?.mapValue { aps[name] = .object(map) }
    }
    payload["aps"] = .object(aps)
    return payload
  }

  /// APNs accepts any badge, and the device shows none that is no number.
  private func checkBadge(_ reader: FieldReader) throws(InvalidField) {
    guard let badge = payload?["aps"]?.objectValue?["badge"] else { return }
    if case .number(let number) = badge, let count = number.int64, count >= 0 { return }
    throw reader.refused(
      "payload",
      "aps.badge must be a number from 0; to raise badges, give \"badge\": \"+1\" in notification")
  }

  private static func priority(_ reader: FieldReader) throws(InvalidField) -> APNsPriority? {
    guard let number = try reader.integer("priority", in: 1...10) else { return nil }
    guard let priority = APNsPriority(rawValue: number) else {
      throw reader.refused("priority", "must be 10, 5 or 1, is \(number)")
    }
    return priority
  }

  /// A push type, a topic and a priority say nothing by themselves.
  var isSendable: Bool { payload != nil }

  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField) {
    guard let payload else { return }
    self.payload = try table.marked(payload, at: "/apns/payload")
  }

  func json() -> JSONValue {
    var object = JSONObject()
    object["payload"] = payload.map { .object($0) }
    object["push_type"] = pushType.map { .string($0.rawValue) }
    object["topic"] = topic.map { .string($0) }
    object["priority"] = priority.map { .integer($0.rawValue) }
    return .object(object)
  }
}
