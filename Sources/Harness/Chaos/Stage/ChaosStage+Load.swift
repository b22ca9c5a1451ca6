import LocalServices
import Model

extension ChaosStage {
  /// Enqueues a job to these users of the crowd; returns when Redis has acknowledged it.
  @discardableResult
  func enqueue(
    _ users: Range<Int>, to crowd: Crowd? = nil, more: String = "", priority: Priority = .normal
  ) async throws -> LedgerEntry {
    let crowd = crowd ?? self.crowd
    let entry = ledger.open(
      app: crowd.app, users: users, isNamedByUser: crowd.network == .fcm)
    try await enqueue(entry, to: crowd, more: more, priority: priority)
    return entry
  }

  private func enqueue(
    _ entry: LedgerEntry, to crowd: Crowd, more: String = "", priority: Priority = .normal
  ) async throws {
    try await session.enqueue(
      crowd.job(id: entry.id, topic: entry.topic, users: entry.users, more: more),
      priority: priority)
    ledger.acknowledge(entry.number)
  }

  /// Keeps the workers busy with jobs to changing users until the body has returned, and until so many
  /// pushes were enqueued.
  /// - Parameters:
  ///   - jobUsers: users of a job; nil for as many as the trial is of.
  ///   - outstanding: jobs that are unfinished at a time; nil for the usual. Of jobs to one user each it is always the usual.
  func underLoad<Result: Sendable>(
    pushesMin: Int = 0, jobUsers: Int? = nil, outstanding: Int? = nil, more: String = "",
    _ body: @Sendable (ChaosStage) async throws -> Result
  ) async throws -> Result {
    let isEnough = Notice()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let usual = self.trial.isBrief ? ChaosLimits.usersPerBriefJob : ChaosLimits.usersPerJob
        let users = self.trial.isOfSmallJobs ? 1 : jobUsers ?? usual
        try await self.feed(
          pushesMin: users == 1 ? pushesMin / ChaosLimits.smallJobsShare : pushesMin,
          jobUsers: users, more: more,
          outstanding: users == 1
            ? ChaosLimits.smallJobsOutstanding : outstanding ?? ChaosLimits.jobsOutstanding,
          until: isEnough)
      }
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(self)) } catch { result = .failure(error) }
      isEnough.raise()
      if case .failure = result { group.cancelAll() }
      do { try await group.waitForAll() } catch is CancellationError {}
      return try result.get()
    }
  }

  private func feed(
    pushesMin: Int, jobUsers: Int, more: String, outstanding: Int, until isEnough: Notice
  ) async throws {
    let users = min(jobUsers, crowd.count)
    var dice = trial.dice(.load)
    var open: [LedgerEntry] = []
    while !isEnough.isRaised || ledger.pushes < pushesMin {
      try Task.checkCancellation()
      while open.count < outstanding {
        let count = min(ChaosLimits.commandsInFlight, outstanding - open.count)
        let firsts = (0..<count).map { _ in dice.pick(0...(crowd.count - users)) }
        open += try await enqueue(firsts.map { $0..<$0 + users }, more: more)
      }
      try await Self.pause(ms: ChaosLimits.pollMs)
      open = try await unfinished(open)
    }
  }

  /// Enqueues a job to each of these groups of users, all at once.
  func enqueue(_ groups: [Range<Int>], more: String = "") async throws -> [LedgerEntry] {
    let entries = groups.map { ledger.open(app: crowd.app, users: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for entry in entries {
        group.addTask { try await self.enqueue(entry, to: self.crowd, more: more) }
      }
      try await group.waitForAll()
    }
    return entries
  }

  private func unfinished(_ entries: [LedgerEntry]) async throws -> [LedgerEntry] {
    var open: [LedgerEntry] = []
    for start in stride(from: 0, to: entries.count, by: ChaosLimits.commandsInFlight) {
      let some = entries[start..<min(start + ChaosLimits.commandsInFlight, entries.count)]
      for (entry, record) in try await currentRecords(of: Array(some))
      where record?.state.isFinal != true {
        open.append(entry)
      }
    }
    return open
  }

  static func pause(ms: UInt64) async throws {
    try await ContinuousClock().sleep(for: .milliseconds(ms))
  }

  /// Waits until every acknowledged job is final; hurries what waits for a retry when asked to.
  /// - Returns: the records as they are then, or when patience ends.
  func drain(hurrying: Bool = false) async throws -> [Int: JobRecord] {
    var records: [Int: JobRecord] = [:]
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(ChaosLimits.drainMsMax)
    let entries = ledger.entries.filter(\.isAcknowledged)
    var open = entries
    while !open.isEmpty, clock.now < deadline {
      if hurrying { try await hurry() }
      var still: [LedgerEntry] = []
      for start in stride(from: 0, to: open.count, by: ChaosLimits.commandsInFlight) {
        let some = open[start..<min(start + ChaosLimits.commandsInFlight, open.count)]
        for (entry, record) in try await currentRecords(of: Array(some)) {
          records[entry.number] = record
          if record?.state.isFinal != true { still.append(entry) }
        }
        // The first that is not final tells enough about the many behind it.
        if !still.isEmpty {
          still += open[some.endIndex...]
          break
        }
      }
      open = still
      if !open.isEmpty { try await Self.pause(ms: ChaosLimits.pollMs) }
    }
    for (entry, record) in try await currentRecords(of: open) { records[entry.number] = record }
    return records
  }

  private func currentRecords(of entries: [LedgerEntry]) async throws -> [(LedgerEntry, JobRecord?)]
  {
    try await withThrowingTaskGroup(of: (LedgerEntry, JobRecord?).self) { group in
      let session = self.session
      for entry in entries {
        group.addTask { (entry, try await session.record(app: entry.app, id: entry.id)) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Makes all delayed work due.
  func hurry() async throws {
    _ = try await session.command(
      "EVAL",
      """
      local members = redis.call('ZRANGE', KEYS[1], 0, -1)
      for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], 'XX', 0, member) end
      return #members
      """, "1", "pushpool:delayed")
  }

  /// Compares the log with the ledger.
  func reckon(_ records: [Int: JobRecord]) throws -> Reckoning {
    try Reckoning.make(ledger.entries, acceptLog: acceptLog, records: records)
  }
}
