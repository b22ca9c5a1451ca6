extension JobContent {
  static let fields =
    ["notification", "localized", "variables", "variables_key"] + Network.allCases.map(\.rawValue)
    + [
      "kind", "event", "collapse_id", "ttl_seconds", "expires_at", "environments", "filter",
      "dry_run", "on_unknown", "trace",
    ]
  /// The field of the topic, which a producer does not write here: it is the job's audience.
  private static let topicField = "topic"
  private static let channelField = "channel"
  /// The field for what the admission makes of `deliver_local`.
  private static let scheduleField = "schedule"

  /// Decodes what `json()` wrote, with the same checks as at admission.
  package init(json: JSONValue) throws(InvalidField) {
    try self.init(
      reader: FieldReader(
        json, at: "", known: Self.fields + [Self.topicField, Self.channelField, Self.scheduleField])
    )
  }

  package init(bytes: [UInt8]) throws(InvalidField) {
    let value: JSONValue
    do { value = try JSONParser().parse(bytes) } catch {
      throw InvalidField(pointer: "", message: error.description)
    }
    try self.init(json: value)
  }

  init(reader: FieldReader) throws(InvalidField) {
    let event = try AppEvent(reader: reader)
    let notification = try reader["notification"].map { (value) throws(InvalidField) in
      try Notification(json: value, at: "/notification")
    }
    let parts = try NetworkParts(reader: reader)
    self.init(
      notification: notification, event: event,
      collapseID: try reader.boundedText("collapse_id", bytesMax: Limits.collapseIDBytesMax),
      expiry: try Expiry(reader: reader),
      environments: try Self.environments(reader),
      dryRun: try reader.flag("dry_run") ?? false,
      unknownPolicy: try reader.choice("on_unknown", of: UnknownPolicy.self) ?? .resend,
      trace: try reader.flag("trace") ?? false)
    self.parts = parts
    channel = try reader.boundedText(Self.channelField, bytesMax: Limits.channelBytesMax)
    topic = try reader.word(Self.topicField, others: "_-", bytesMax: Limits.topicBytesMax)
    schedule = try LocalSchedule(
      reader[Self.scheduleField], at: reader.pointer(to: Self.scheduleField))
    localized = try LocalizedText.list(reader)
    variables = try Variables(reader: reader)
    filter = try reader["filter"].map { (value) throws(InvalidField) in
      try InstallationFilter(json: value, at: "/filter")
    }
    guard notification != nil || parts.isSendable || event != nil else {
      let sendable =
        ["a notification"] + Network.allCases.map(\.traits.sendableField) + ["an event"]
      throw reader.refused(
        "notification", "is missing: a job needs \(sendable.list(before: "or")) to send")
    }
    guard notification != nil || localized.isEmpty else {
      throw reader.refused(
        "localized", "needs a notification: it is what devices of other languages receive")
    }
    if MessageVariants.mayRefuse(self) { _ = try MessageVariants(self) }
  }

  private static func environments(
    _ reader: FieldReader
  ) throws(InvalidField) -> Set<PushEnvironment> {
    guard let items = try reader.array("environments") else {
      return PushEnvironment.all
    }
    let pointer = reader.pointer(to: "environments")
    guard !items.isEmpty else {
      throw InvalidField(
        pointer: pointer, message: "must not be empty: leave it out for both environments")
    }
    var environments: Set<PushEnvironment> = []
    for (position, item) in items.enumerated() {
      let place = FieldPointer.element(position, of: pointer)
      guard case .string(let text) = item else {
        throw InvalidField(pointer: place, message: "must be a string, is \(item.kindName)")
      }
      guard let environment = PushEnvironment(rawValue: text) else {
        throw InvalidField(
          pointer: place, message: FieldReader.notAChoice(text, of: PushEnvironment.self))
      }
      environments.insert(environment)
    }
    return environments
  }

  /// The content as a producer would write it, and its topic; what has its default is left out.
  package func json() -> JSONValue { .object(object()) }

  /// Canonical JSON: what Redis keeps of a job for the lanes.
  package func canonicalBytes() -> [UInt8] { json().bytes(canonical: true) }

  /// - Parameter withAudience: also what its job says beside the content: its topic, its channel and when it starts.
  func object(withAudience: Bool = true) -> JSONObject {
    var object = JSONObject()
    object.add(notification?.json(), for: "notification")
    object.add(LocalizedText.json(localized), for: "localized")
    variables?.write(to: &object)
    parts.write(to: &object)
    object.add(event.map { _ in .string(AppEvent.jobKind) }, for: "kind")
    object.add(event?.json(), for: "event")
    if withAudience {
      object.add(topic.map { .string($0) }, for: Self.topicField)
      object.add(channel.map { .string($0) }, for: Self.channelField)
      object.add(schedule?.json(), for: Self.scheduleField)
    }
    object.add(collapseID.map { .string($0) }, for: "collapse_id")
    switch expiry {
    case .ttl(let seconds)?: object["ttl_seconds"] = .integer(seconds)
    case .at(let ms)?: object["expires_at"] = .integer(ms)
    case nil: break
    }
    if environments.count < PushEnvironment.allCases.count {
      let names = PushEnvironment.allCases.filter(environments.contains).map(\.rawValue)
      object.add(.array(names.map { .string($0) }), for: "environments")
    }
    object.add(filter?.json(), for: "filter")
    if dryRun { object.add(.bool(true), for: "dry_run") }
    if unknownPolicy != .resend { object.add(.string(unknownPolicy.rawValue), for: "on_unknown") }
    if trace { object.add(.bool(true), for: "trace") }
    return object
  }
}
