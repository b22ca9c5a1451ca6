package import Model

extension JobRecord {
  /// Returns what became of the job: instants in epoch milliseconds, counts by the names of the record.
  package func json() -> JSONValue {
    var object: JSONObject = [
      "app": .string(app), "id": .string(id),
      "state": .string(state.rawValue),
    ]
    object["admitted"] = .bool(isAdmitted)
    object["priority"] = priority.map { .string($0.rawValue) }
    object["bucket"] = bucket.map { .string($0) }
    object["topic"] = topic.map { .string($0) }
    object["total"] = .integer(total)
    for (name, count) in counts.fields { object[name] = .integer(count) }
    object["pending"] = .integer(pending)
    switch pace {
    case nil: break
    case .perSecond(let count): object["pushes_per_second"] = .integer(count)
    case .spread(let seconds): object["spread_over_seconds"] = .integer(seconds)
    }
    object["created_at"] = createdAtMs.map { .integer($0) }
    object["start_at"] = startAtMs.map { .integer($0) }
    object["round_at"] = roundAtMs.map { .integer($0) }
    object["started_at"] = startedAtMs.map { .integer($0) }
    object[refusal == nil ? "finished_at" : "refused_at"] = finishedAtMs.map { .integer($0) }
    if let refusal {
      object["reason"] = .string(refusal.reason)
      object["field"] = .string(refusal.field)
      object["message"] = .string(refusal.message)
      object["letter"] = .string(letterText)
    }
    return .object(object)
  }

  /// The same with the time that it will take yet, in milliseconds (`left_ms`), where that can be said.
  package func json(nowMs: Int64) -> JSONValue {
    guard case .object(var object) = json() else { return .null }
    object["left_ms"] = leftMs(nowMs: nowMs).map { .integer($0) }
    return .object(object)
  }
}
