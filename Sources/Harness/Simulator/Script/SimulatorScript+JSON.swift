internal import Model

extension SimulatorScript {
  static let fieldNames =
    [
      "rules", "all", "oauth", "delay_ms", "stall_after", "stop_reading_after", "goaway_after",
      "goaway_processes_last", "goaway_reason", "max_concurrent_streams", "reset_after",
      "early_answer", "drop_connection_after", "close_without_answer_after",
      "drop_connection_after_bad_requests",
    ] + NetworkScripts.fieldNames + ["seed"]

  /// Reads a script; an unknown field or a value out of bounds is refused by name.
  package init(json bytes: [UInt8]) throws(SimulatorError) {
    do throws(InvalidField) {
      let value: JSONValue
      do {
        let parser = JSONParser(bytesMax: SimulatorLimits.scriptBytesMax)
        value = try parser.parse(bytes)
      } catch {
        throw InvalidField(pointer: "", message: error.description)
      }
      try self.init(ScriptFields(value, pointer: "", known: Self.fieldNames))
    } catch {
      throw SimulatorError(.script, "script: \(error.description)")
    }
  }

  private init(_ fields: ScriptFields) throws(InvalidField) {
    rules = try fields.list("rules", countMax: SimulatorLimits.scriptRulesMax) {
      (value, pointer) throws(InvalidField) in
      try ScriptRule(ScriptFields(value, pointer: pointer, known: ScriptRule.fieldNames))
    }
    all = try fields.object("all", known: ScriptRule.fieldNames) { fields throws(InvalidField) in
      try ScriptRule(fields)
    }
    oauth = try fields.object("oauth", known: ScriptRule.fieldNames) {
      fields throws(InvalidField) in try ScriptRule(fields)
    }
    delayMs = UInt64(try fields.integer("delay_ms", in: 0...3_600_000) ?? 0)
    stallAfter = try fields.count("stall_after")
    stopReadingAfter = try fields.count("stop_reading_after")
    goAwayAfter = try fields.count("goaway_after")
    goAwayProcessesLast = try fields.flag("goaway_processes_last") ?? true
    goAwayReason = try fields.text("goaway_reason")
    maxConcurrentStreams = try fields.list("max_concurrent_streams", countMax: 1_000) {
      (value, pointer) throws(InvalidField) in
      let step = try ScriptFields(value, pointer: pointer, known: ["after", "value"])
      return StreamLimitStep(
        after: try step.required(step.count("after"), "after"),
        value: UInt32(
          try step.required(step.integer("value", in: 0...Int64(Int32.max)), "value")))
    }
    resets = try fields.object("reset_after", known: ["n", "code", "times"]) {
      fields throws(InvalidField) in
      Resets(
        after: try fields.required(fields.count("n"), "n"),
        code: UInt32(try fields.integer("code", in: 0...Int64(UInt32.max)) ?? 2),
        times: try fields.count("times") ?? 1)
    }
    answersEarly = try fields.flag("early_answer") ?? false
    dropConnectionAfter = try fields.count("drop_connection_after")
    closeWithoutAnswerAfter = try fields.count("close_without_answer_after")
    dropConnectionAfterBadRequests = try fields.count("drop_connection_after_bad_requests")
    networks = try NetworkScripts(fields)
    seed = UInt64(try fields.integer("seed", in: 0...Int64.max) ?? 1)
  }
}

extension ScriptRule {
  static let fieldNames = [
    "token_prefix", "network", "connection", "action", "status", "reason", "timestamp_ms",
    "retry_after_seconds", "body", "content_type", "field_violation", "reset_code", "delay_ms",
    "times", "probability", "burst",
  ]

  private static let answerFields = [
    "reason", "timestamp_ms", "retry_after_seconds", "body", "content_type", "field_violation",
  ]

  init(_ fields: ScriptFields) throws(InvalidField) {
    self.init()
    tokenPrefix = try fields.text("token_prefix") ?? ""
    network = try fields.choice("network", among: Network.allCases)
    connection = try fields.count("connection")
    action = try fields.choice("action", among: Action.allCases) ?? .answer
    status = try fields.integer("status", in: 200...599).map { Int($0) }
    reason = try fields.text("reason")
    timestampMs = try fields.integer("timestamp_ms", in: 0...Int64.max)
    retryAfterSeconds = try fields.count("retry_after_seconds")
    body = try fields.text("body")
    contentType = try fields.headerValue("content_type")
    fieldViolation = try fields.text("field_violation")
    resetCode = UInt32(try fields.integer("reset_code", in: 0...Int64(UInt32.max)) ?? 2)
    delayMs = try fields.integer("delay_ms", in: 0...3_600_000).map { UInt64($0) }
    times = try fields.count("times")
    probability = try fields.share("probability") ?? 1
    burst = Int(try fields.integer("burst", in: 1...1_000_000) ?? 1)
    if burst > 1, probability == 1 {
      throw InvalidField(
        pointer: FieldPointer.child("burst", of: fields.pointer),
        message: "belongs to a \"probability\" below 1; give one")
    }
    for name in Self.answerFields where status == nil && fields.contains(name) {
      throw InvalidField(
        pointer: FieldPointer.child(name, of: fields.pointer),
        message: "belongs to an answer with a \"status\"; give one")
    }
  }
}
