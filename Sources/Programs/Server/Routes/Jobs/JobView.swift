internal import Model
internal import Operations
internal import Store

/// A job as a client sees it: its record, and what follows from it.
struct JobView {
  let record: JobRecord
  let sheet: JobSheet
  let hindrances: [JobHindrance]

  /// - Parameter nowMs: epoch milliseconds.
  func json(nowMs: Int64) -> JSONValue {
    guard case .object(var object) = record.json(nowMs: nowMs) else { return .null }
    object["settled"] = .integer(record.counts.settled)
    object["progress_percent"] = record.progressPercent.map { .integer($0) }
    object["per_second"] = record.perSecond(nowMs: nowMs).map { .integer($0) }
    for (name, value) in sheet.members where name != "content" { object[name] = value }
    object["hindrances"] = .array(hindrances.map { .object($0.json) })
    return .object(object)
  }

  /// A job that waits for a worker, who will refuse it.
  static func json(doomed path: JobPath, _ fault: InvalidField) -> JSONValue {
    [
      "app": .string(path.app), "id": .string(path.id),
      "state": .string(JobState.queued.rawValue), "admitted": .bool(false),
      "fault": ["field": .string(fault.pointer), "message": .string(fault.message)],
      "hindrances": .array([]),
    ]
  }
}

extension JobRecord {
  /// How much of what the job came to is settled, in whole percents; nil before anything is known.
  fileprivate var progressPercent: Int? {
    guard isAdmitted, total > 0 else { return nil }
    return Int(min(max(Double(counts.settled) * 100 / Double(total), 0), 100))
  }

  /// Pushes settled in a second over the job's whole time, without what was not sent; nil when that is too short to say.
  fileprivate func perSecond(nowMs: Int64) -> Int? {
    let sent = counts.settled - counts.skipped
    guard let begunMs = startedAtMs ?? createdAtMs, sent > 0 else { return nil }
    let durationMs = (finishedAtMs ?? nowMs) - begunMs
    guard durationMs > 0 else { return nil }
    return Int(Double(sent) * 1_000 / Double(durationMs))
  }
}
