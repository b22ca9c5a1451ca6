extension JobContent {
  static let fields = [
    "notification", "localized", "variables", "variables_key", "apns", "fcm", "jpush", "kind",
    "event", "collapse_id", "ttl_seconds", "expires_at", "environments", "filter", "dry_run",
    "on_unknown", "trace",
  ]
  /// What a producer does not write here: it is the job's audience.
  private static let topicField = "topic"
  private static let channelField = "channel"
  /// What the admission makes of `deliver_local`.
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
    self.init(
      notification: try reader.object["notification"].map { (value) throws(InvalidField) in
        try Notification(json: value, at: "/notification")
      },
      apns: try reader.object["apns"].map { (value) throws(InvalidField) in
        try APNsPart(json: value, at: "/apns")
      },
      fcm: try reader.object["fcm"].map { (value) throws(InvalidField) in
        try FCMPart(json: value, at: "/fcm")
      },
      jpush: try reader.object["jpush"].map { (value) throws(InvalidField) in
        try JPushPart(json: value, at: "/jpush")
      },
      event: event,
      collapseID: try reader.boundedText("collapse_id", bytesMax: Limits.collapseIDBytesMax),
      expiry: try Expiry(reader: reader),
      environments: try Self.environments(reader),
      dryRun: try reader.flag("dry_run") ?? false,
      unknownPolicy: try reader.choice("on_unknown", of: UnknownPolicy.self) ?? .resend,
      trace: try reader.flag("trace") ?? false)
    channel = try reader.boundedText(Self.channelField, bytesMax: Limits.channelBytesMax)
    topic = try reader.word(Self.topicField, others: "_-", bytesMax: Limits.topicBytesMax)
    schedule = try LocalSchedule(
      reader.object[Self.scheduleField], at: reader.pointer(to: Self.scheduleField))
    localized = try LocalizedText.list(reader)
    variables = try Variables(reader: reader)
    filter = try reader.object["filter"].map { (value) throws(InvalidField) in
      try InstallationFilter(json: value, at: "/filter")
    }
    let hasPart = notification != nil || apns?.payload != nil || fcm != nil || jpush != nil
    guard hasPart || event != nil else {
      throw reader.refused(
        "notification",
        "is missing: a job needs a notification, apns.payload, fcm, jpush or an event to send")
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
    object["notification"] = notification?.json()
    object["localized"] = LocalizedText.json(localized)
    variables?.write(to: &object)
    object["apns"] = apns?.json()
    object["fcm"] = fcm.map { ["message": .object($0.message)] }
    object["jpush"] = jpush.map { .object($0.payload) }
    object["kind"] = event.map { _ in .string(AppEvent.jobKind) }
    object["event"] = event?.json()
    if withAudience {
      object[Self.topicField] = topic.map { .string($0) }
      object[Self.channelField] = channel.map { .string($0) }
      object[Self.scheduleField] = schedule?.json()
    }
    object["collapse_id"] = collapseID.map { .string($0) }
    switch expiry {
    case .ttl(let seconds)?: object["ttl_seconds"] = .integer(seconds)
    case .at(let ms)?: object["expires_at"] = .integer(ms)
    case nil: break
    }
    if environments.count < PushEnvironment.allCases.count {
      object["environments"] = .array(
        PushEnvironment.allCases.filter(environments.contains).map { .string($0.rawValue) })
    }
    object["filter"] = filter?.json()
    if dryRun { object["dry_run"] = .bool(true) }
    if unknownPolicy != .resend { object["on_unknown"] = .string(unknownPolicy.rawValue) }
    if trace { object["trace"] = .bool(true) }
    return object
  }
}
