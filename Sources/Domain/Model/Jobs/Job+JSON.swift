extension Job {
  static let fields =
    ["id", "app", "audience", "deliver_at", LocalDelivery.field, retentionField] + JobPace.fields
    + JobContent.fields

  private static let retentionField = "retention_seconds"

  /// Decodes and checks what a producer enqueued. A syntax error has an empty pointer.
  package init(bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    guard bytes.count <= Limits.jobBytesMax else {
      throw InvalidField(
        pointer: "",
        message: "a job is at most \(Limits.jobBytesMax) bytes of JSON, this is \(bytes.count)")
    }
    let value: JSONValue
    do { value = try JSONParser().parse(bytes) } catch {
      throw InvalidField(pointer: "", message: error.description)
    }
    try self.init(json: value)
  }

  package init(bytes: UnsafeRawBufferPointer) throws(InvalidField) {
    try self.init(bytes: bytes.bindMemory(to: UInt8.self))
  }

  package init(bytes: [UInt8]) throws(InvalidField) {
    self = try bytes.withUnsafeBufferPointer { (buffer) throws(InvalidField) in
      try Job(bytes: buffer)
    }
  }

  package init(text: String) throws(InvalidField) { try self.init(bytes: Array(text.utf8)) }

  package init(json: JSONValue) throws(InvalidField) {
    try AppEvent.refuseCustomisation(ofJob: json)
    try RefusedFields.refuse(RefusedFields.job, in: json)
    let reader = try FieldReader(json, at: "", known: Self.fields)
    let id = try reader.string("id")
    if let id {
      do { try TextRule.checkJobID(id) } catch { throw error.under("/id") }
    }
    let app = try reader.requiredString("app", why: "name the app of the configuration")
    do { try TextRule.checkApp(app) } catch { throw error.under("/app") }
    guard let audience = reader["audience"] else {
      throw reader.refused("audience", "is missing: say who receives the job")
    }
    // Not asked of content that an older version has admitted: there only a push that needs the header is rejected.
    _ = try reader.headerValue("collapse_id", bytesMax: Limits.collapseIDBytesMax)
    let deliverAtMs = try reader.recentInstantMs("deliver_at")
    var content = try JobContent(reader: reader)
    let expiry = content.expiry
    if let deliverAtMs { try Self.count(from: deliverAtMs, &content.expiry, reader) }
    let deliverLocal = try LocalDelivery(reader: reader)
    guard deliverLocal == nil || deliverAtMs == nil else {
      throw reader.refused(
        LocalDelivery.field, "must not stand beside deliver_at: give one of them")
    }
    let pace = try JobPace.read(reader)
    if case .spread(let seconds)? = pace, case .ttl(let ttl)? = content.expiry, ttl < seconds {
      throw reader.refused("ttl_seconds", "must be at least spread_over_seconds, \(seconds)")
    }
    if case .spread? = pace, deliverLocal != nil {
      throw reader.refused(
        "spread_over_seconds",
        "cannot stand beside deliver_local, which spreads the job by time zones: give pushes_per_second"
      )
    }
    let retentionSeconds = try reader.integer(
      Self.retentionField, in: Limits.retentionSecondsMin...Limits.retentionSecondsMax)
    let receivers = try Audience(json: audience, at: "/audience")
    try content.parts.checkAdmission(
      of: JobForm(
        isForOne: receivers.isOneInstallation, isFilledIn: content.variables != nil))
    if case .topic(let topic) = receivers { content.topic = topic }
    if case .channel(let channel) = receivers { content.channel = channel }
    self.init(
      id: id, app: app, audience: receivers, content: content, deliverAtMs: deliverAtMs,
      deliverLocal: deliverLocal, pace: pace, retentionSeconds: retentionSeconds)
    if deliverAtMs != nil, case .ttl(let seconds)? = expiry, seconds > 0 { livesSeconds = seconds }
  }

  /// Has a job that starts later expire by an instant: its seconds count from its start.
  private static func count(
    from startMs: Int64, _ expiry: inout Expiry?, _ reader: FieldReader
  ) throws(InvalidField) {
    switch expiry {
    case nil, .ttl(seconds: 0): break
    case .ttl: expiry = expiry.map { .at(ms: $0.expiresAtMs(createdAtMs: startMs)) }
    case .at(let ms):
      guard ms > startMs else {
        throw reader.refused("expires_at", "must be later than deliver_at")
      }
    }
  }

  /// Returns what a producer would enqueue for this job.
  package func json() -> JSONValue {
    var object = object()
    object["id"] = id.map { .string($0) }
    if let livesSeconds {
      object["expires_at"] = nil
      object["ttl_seconds"] = .integer(livesSeconds)
    }
    return .object(object)
  }

  /// Canonical JSON of audience and content without the id: what an id conflict is decided on.
  package func canonicalBytes() -> [UInt8] { JSONValue.object(object()).bytes(canonical: true) }

  private func object() -> JSONObject {
    var object = content.object(withAudience: false)
    object.add(.string(app), for: "app")
    object.add(audience.json(), for: "audience")
    object.add(deliverAtMs.map { .integer($0) }, for: "deliver_at")
    object.add(deliverLocal?.json(), for: LocalDelivery.field)
    pace?.write(to: &object)
    object.add(retentionSeconds.map { .integer($0) }, for: Self.retentionField)
    return object
  }
}

/// Names that are refused with a word of their own, rather than as unknown ones. A name leaves its list when it is decoded.
enum RefusedFields {
  static let job: KeyValuePairs = [
    "priority":
      "is not part of the job: add the job to the stream of its priority, or give --priority"
  ]

  static func refuse(
    _ fields: KeyValuePairs<String, String>, in value: JSONValue
  ) throws(InvalidField) {
    guard case .object(let object) = value else { return }
    for (name, message) in fields where object[name] != nil {
      throw InvalidField(pointer: FieldPointer.child(name, of: ""), message: message)
    }
  }
}
