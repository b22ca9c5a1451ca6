extension Installation {
  /// The names that its document may have.
  package static let fields = [
    "app", "user", "network", "token", "environment", "kind", "object_id", "device_type",
    "app_name",
    "app_version", "os_version", "sdk_version", "time_zone", "language", "badge", "channels",
    "created_at", "updated_at", "custom",
  ]

  /// Decodes one line of NDJSON.
  package init(bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    try self.init(json: try JSONValue(document: bytes))
  }

  package init(bytes: [UInt8]) throws(InvalidField) {
    self = try bytes.withUnsafeBufferPointer { (buffer) throws(InvalidField) in
      try Installation(bytes: buffer)
    }
  }

  package init(text: String) throws(InvalidField) { try self.init(bytes: Array(text.utf8)) }

  package init(json: JSONValue) throws(InvalidField) {
    let reader = try FieldReader(json, at: "", known: Self.fields)
    let app = try reader.requiredString("app", why: "name the app of the configuration")
    do { try TextRule.checkApp(app) } catch { throw error.under("/app") }
    let user = try reader.requiredString("user", why: "an installation belongs to a user")
    do { try TextRule.checkUser(user) } catch { throw error.under("/user") }
    guard let network = try reader.choice("network", of: Network.self) else {
      throw reader.refused("network", "is missing: \(Network.alternatives)")
    }
    let token = try reader.requiredString("token", why: "the device token of the network")
    let deviceToken = try DeviceToken(token, network: network)
    let environment = try reader.choice("environment", of: PushEnvironment.self) ?? .production
    let objectID = try reader.word("object_id", others: "_-", bytesMax: Limits.objectIDBytesMax)
    let device = Device(
      type: try reader.boundedText("device_type", bytesMax: Limits.deviceTypeBytesMax),
      appName: try reader.boundedText("app_name", bytesMax: Limits.appNameBytesMax),
      appVersion: try reader.boundedText("app_version", bytesMax: Limits.versionBytesMax),
      osVersion: try reader.boundedText("os_version", bytesMax: Limits.versionBytesMax),
      sdkVersion: try reader.boundedText("sdk_version", bytesMax: Limits.versionBytesMax),
      timeZone: try reader.word("time_zone", others: "_+-/:", bytesMax: Limits.timeZoneBytesMax),
      language: try reader.word("language", others: "-_", bytesMax: Limits.languageBytesMax))
    self.init(
      app: app, user: user, token: deviceToken, environment: environment, objectID: objectID,
      device: device)
    badge = try reader.integer("badge", in: 0...Limits.badgeMax)
    channels = try Self.channels(reader)
    createdAtMs = try reader.recentInstantMs("created_at")
    updatedAtMs = try reader.recentInstantMs("updated_at")
    custom = try Self.custom(reader)
    leavesChannels = channels.isEmpty && reader.has("channels")
    kind = try reader.choice("kind", of: TokenKind.self) ?? .alert
    guard kind == .alert || network == .apns else {
      throw reader.refused(
        "kind", "must be left out for \(network.rawValue): only tokens of APNs have kinds")
    }
  }

  private static func channels(_ reader: FieldReader) throws(InvalidField) -> [String] {
    guard let items = try reader.array("channels") else { return [] }
    guard items.count <= Limits.channelsMax else {
      throw reader.refused(
        "channels", "must be at most \(Limits.channelsMax) names, are \(items.count)")
    }
    var channels: [String] = []
    for (position, item) in items.enumerated() {
      let place = FieldPointer.element(position, of: reader.pointer(to: "channels"))
      guard case .string(let name) = item else {
        throw InvalidField(pointer: place, message: "must be a string, is \(item.kindName)")
      }
      do { try TextRule.check(name, bytesMax: Limits.channelBytesMax) } catch {
        throw error.under(place)
      }
      if !channels.contains(where: { TextRule.isSame($0, name) }) { channels.append(name) }
    }
    return channels
  }

  private static func custom(_ reader: FieldReader) throws(InvalidField) -> [String: String] {
    guard let object = try reader.map("custom") else { return [:] }
    guard object.count <= Limits.customFieldsMax else {
      throw reader.refused(
        "custom", "must be at most \(Limits.customFieldsMax) fields, are \(object.count)")
    }
    var custom: [String: String] = [:]
    for member in object.members {
      let place = FieldPointer.child(member.name, of: reader.pointer(to: "custom"))
      guard (1...Limits.customNameBytesMax).contains(member.name.utf8.count),
        TextRule.isWord(member.name, others: "._-")
      else {
        throw InvalidField(
          pointer: place,
          message: "the name must be 1 to \(Limits.customNameBytesMax) ASCII letters, digits "
            + "or . _ -")
      }
      guard case .string(let text) = member.value else {
        throw InvalidField(
          pointer: place, message: "must be a string, is \(member.value.kindName)")
      }
      guard text.utf8.count <= Limits.customValueBytesMax else {
        throw InvalidField(
          pointer: place,
          message: "must be at most \(Limits.customValueBytesMax) bytes, is \(text.utf8.count)")
      }
      custom[member.name] = text
    }
    return custom
  }

  /// One line of NDJSON without its newline; what is not known is left out.
  package func json() -> JSONValue {
    var object = JSONObject()
    object["app"] = .string(app)
    object["user"] = .string(user)
    object["network"] = .string(token.network.rawValue)
    object["token"] = .string(token.text)
    object["environment"] = .string(environment.rawValue)
    if kind != .alert { object["kind"] = .string(kind.rawValue) }
    object["object_id"] = objectID.map { .string($0) }
    object["device_type"] = device.type.map { .string($0) }
    object["app_name"] = device.appName.map { .string($0) }
    object["app_version"] = device.appVersion.map { .string($0) }
    object["os_version"] = device.osVersion.map { .string($0) }
    object["sdk_version"] = device.sdkVersion.map { .string($0) }
    object["time_zone"] = device.timeZone.map { .string($0) }
    object["language"] = device.language.map { .string($0) }
    object["badge"] = badge.map { .integer($0) }
    if !channels.isEmpty || leavesChannels {
      object["channels"] = .array(channels.map { .string($0) })
    }
    object["created_at"] = createdAtMs.map { .integer($0) }
    object["updated_at"] = updatedAtMs.map { .integer($0) }
    if !custom.isEmpty {
      var fields = JSONObject()
      for (name, text) in custom.sorted(by: { $0.key < $1.key }) { fields[name] = .string(text) }
      object["custom"] = .object(fields)
    }
    return .object(object)
  }
}
