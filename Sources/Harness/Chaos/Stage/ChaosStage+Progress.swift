import LocalServices
import Model

extension ChaosStage {
  /// Jobs that are looked at to see work go on: more than are unfinished at a time.
  private static let recentJobs = 3 * ChaosLimits.jobsOutstanding

  /// Pushes that the records of recent jobs count as ended.
  private func settled(_ session: ChaosSession, _ recent: [LedgerEntry]) async throws -> Int {
    var sum = 0
    for entry in recent {
      sum += try await session.record(app: entry.app, id: entry.id)?.counts.settled ?? 0
    }
    return sum
  }

  /// Waits until more pushes are settled than now. By a connection of its own, which does not have to
  /// find out first that the fault is over.
  /// - Returns: how many seconds that took; `patienceSeconds` when it did not happen.
  func secondsUntilProgress(patienceSeconds: Double = 60) async throws -> Double {
    let start = ContinuousClock.now
    let session = try await ChaosSession.open(
      url: standby.url ?? redis.url, prefix: standby.prefix)
    func elapsed() -> Double { (ContinuousClock.now - start) / .seconds(1) }
    do {
      // Those that are enqueued meanwhile, too: all that were there may have been settled already.
      let first = max(0, ledger.entries.count - Self.recentJobs)
      func recent() -> [LedgerEntry] { Array(ledger.entries.dropFirst(first)) }
      let before = try await settled(session, recent())
      while try await settled(session, recent()) <= before, elapsed() < patienceSeconds {
        try await Self.pause(ms: ChaosLimits.pollMs / 2)
      }
    } catch {
      await session.close()
      throw error
    }
    await session.close()
    return elapsed()
  }

  /// Bytes of accept log that are written in a second, measured over so long.
  func acceptRate(overMs: UInt64) async throws -> Double {
    let start = ContinuousClock.now
    let before = AcceptLogFile.bytes(acceptLog)
    try await Self.pause(ms: overMs)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return Double(AcceptLogFile.bytes(acceptLog) - before) / seconds
  }

  /// Waits until the networks accept at least this share of a former rate.
  /// - Returns: how many seconds that took; `patienceSeconds` when it did not happen.
  func secondsUntilRate(_ wanted: Double, patienceSeconds: Double) async throws -> Double {
    let start = ContinuousClock.now
    func elapsed() -> Double { (ContinuousClock.now - start) / .seconds(1) }
    while elapsed() < patienceSeconds {
      let before = elapsed()
      if try await acceptRate(overMs: 500) >= wanted { return before }
    }
    return patienceSeconds
  }
}
