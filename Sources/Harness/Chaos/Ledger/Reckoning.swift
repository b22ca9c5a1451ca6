import Model

/// The accept log and the records beside what was enqueued.
struct Reckoning: Sendable {
  /// How long after a cancellation or pause was answered requests may still begin (docs/reference/guarantees.md).
  static let stopMsMax: Int64 = 1_000

  /// Pushes of acknowledged jobs.
  var pushes = 0
  var accepts = 0
  /// Acknowledged, never accepted, and in no counter that explains it.
  var lost = 0
  /// Accepts of a job and token beyond the first.
  var duplicates = 0
  /// Accepts that nobody enqueued, of another's device, or long after the job was stopped.
  var phantoms = 0
  /// Accepts that began later than a second after the answer to a cancellation or pause.
  var late = 0
  /// Acknowledged jobs without a final record.
  var unfinished = 0
  /// Records whose sum does not hold.
  var unbalanced = 0
  /// Pushes that records count as accepted and the log does not have, or the other way round.
  var miscounted = 0
  /// Counted as failed, rejected, expired, skipped or uninstalled.
  var failed = 0
  var rejected = 0
  var skipped = 0
  var otherwise = 0
  var retries = 0
  /// Sentences about the first problems, for the result.
  var examples: [String] = []

  private static let examplesMax = 5

  mutating func note(_ example: @autoclosure () -> String) {
    if examples.count < Self.examplesMax { examples.append(example()) }
  }

  /// - Parameter records: of acknowledged jobs, by number.
  static func make(
    _ entries: [LedgerEntry], acceptLog: String, records: [Int: JobRecord]
  ) throws(ChaosError) -> Reckoning {
    var sum = Reckoning()
    let jobs = Self.jobsNamedByUsers(entries)
    var counts = entries.map { [UInt16](repeating: 0, count: $0.users.count) }
    try AcceptLogFile.forEach(acceptLog) { line in
      sum.accepts += 1
      guard let job = line.job ?? line.user.flatMap({ jobs[$0] }), job < entries.count,
        let user = line.user,
        entries[job].users.contains(user)
      else {
        sum.phantoms += 1
        return sum.note("phantom: job \(line.job ?? -1), user \(line.user ?? -1)")
      }
      let entry = entries[job]
      if let stopped = entry.stoppedAtMs, line.atMs > stopped + stopMsMax,
        line.atMs < entry.resumedAtMs ?? .max
      {
        sum.late += 1
        sum.note("\(entry.id) was stopped at \(stopped) and sent at \(line.atMs)")
      }
      counts[job][user - entry.users.lowerBound] += 1
    }
    for entry in entries where entry.isAcknowledged {
      sum.add(entry, counts[entry.number], records[entry.number])
    }
    // A job without an acknowledgement may be there and be sent, or not: only its duplicates count.
    for entry in entries where !entry.isAcknowledged {
      sum.duplicates += counts[entry.number].reduce(0) { $0 + max(0, Int($1) - 1) }
    }
    return sum
  }

  /// The numbers of entries that are named by their users.
  private static func jobsNamedByUsers(_ entries: [LedgerEntry]) -> [Int: Int] {
    entries.reduce(into: [:]) { jobs, entry in
      guard entry.isNamedByUser else { return }
      for user in entry.users { jobs[user] = entry.number }
    }
  }

  private mutating func add(_ entry: LedgerEntry, _ counts: [UInt16], _ record: JobRecord?) {
    pushes += entry.users.count
    var distinct = 0
    var repeated = 0
    for count in counts where count > 0 {
      distinct += 1
      repeated += Int(count) - 1
    }
    duplicates += repeated
    guard let record, record.state.isFinal, record.refusal == nil else {
      unfinished += 1
      lost += entry.users.count - distinct
      return note("\(entry.id) is \(record.map { "\($0)" } ?? "not there")")
    }
    if !record.isBalanced || record.pending != 0
      || record.counts.fields.contains(where: { $0.count < 0 })
    {
      unbalanced += 1
      note("\(entry.id) does not add up: \(record)")
    }
    let explained = max(0, record.counts.settled - record.counts.accepted)
    failed += record.counts.failed
    rejected += record.counts.rejected
    skipped += record.counts.skipped
    otherwise += record.counts.expired + record.counts.uninstalled
    retries += record.counts.retries
    let missing = max(0, entry.users.count - distinct - explained)
    lost += missing
    if missing > 0 { note("\(entry.id) lacks \(missing): \(record)") }
    if record.counts.accepted != distinct {
      miscounted += abs(record.counts.accepted - distinct)
      note("\(entry.id) counts \(record.counts.accepted) accepted, the log has \(distinct)")
    }
  }
}
