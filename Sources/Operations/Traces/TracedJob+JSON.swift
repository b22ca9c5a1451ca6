package import Model
internal import Store

extension TracedJob {
  /// Returns the whole trace as one object.
  /// - Parameter limit: how many events are in it, the last ones.
  package func json(limit: Int) -> JSONValue {
    var object: JSONObject = [
      "job": record.json(),
      "trace": .bool(content?.trace == true),
      "complete": .bool(reading.isComplete && !isOld),
      "trimmed": .integer(reading.trimmed), "lost": .integer(reading.lost),
      "omitted": .integer(reading.omitted), "unexplained": .integer(unexplained),
      "matched": .integer(reading.matched),
      "events": .array(reading.events.suffix(limit).map { .object($0.object()) }),
    ]
    if case .everybody = reading.subject {
      object["counts"] = .array(reading.sortedTallies.map { .object($0.tally.object($0.sort)) })
    } else {
      object["conclusions"] = .array(conclusions().map { .object($0.object(of: self)) })
    }
    return .object(object)
  }
}

extension TraceConclusion {
  fileprivate func object(of job: TracedJob) -> JSONObject {
    var object = JSONObject()
    object["network"] = network.map { .string($0.rawValue) }
    if !token.isEmpty { object["token"] = .string(token) }
    object["code"] = .string(code.rawValue)
    object["text"] = .string(text(of: job))
    return object
  }
}

extension TraceTally {
  fileprivate func object(_ sort: Sort) -> JSONObject {
    var object = JSONObject()
    object["network"] = sort.network.map { .string($0.rawValue) }
    object["what"] = .string(sort.kind.rawValue)
    if sort.status > 0 { object["status"] = .integer(sort.status) }
    if !sort.reason.isEmpty { object["reason"] = .string(sort.reason) }
    object["decision"] = sort.decision.map { .string($0.rawValue) }
    object["cause"] = sort.cause.map { .string($0.rawValue) }
    object["count"] = .integer(count)
    object["first_at"] = .integer(firstMs)
    object["last_at"] = .integer(lastMs)
    return object
  }
}

extension TraceEvent {
  fileprivate func object() -> JSONObject {
    var object: JSONObject = ["at": .integer(atMs), "lane": .string(by)]
    object["network"] = network.map { .string($0.rawValue) }
    object["environment"] = environment.map { .string($0.rawValue) }
    if !token.isEmpty { object["token"] = .string(token) }
    if !user.isEmpty { object["user"] = .string(user) }
    if attempt > 0 { object["attempt"] = .integer(attempt) }
    object["what"] = .string(kind.rawValue)
    if status > 0 { object["status"] = .integer(status) }
    if !reason.isEmpty { object["reason"] = .string(reason) }
    object["elapsed_ms"] = elapsedMs.map { .integer($0) }
    object["decision"] = decision.map { .string($0.rawValue) }
    object["cause"] = cause.map { .string($0.rawValue) }
    object["delay_ms"] = delayMs.map { .integer($0) }
    return object
  }
}
