import Model

/// Jobs to all users of a population, from enqueueing to their final records.
struct Campaign {
  /// How many pushes were accepted by when.
  struct Point: Sendable {
    var atSeconds: Double
    var accepted: Int
  }

  let stage: Stage
  /// Distinct per campaign: job ids may be used once.
  let name: String

  /// Enqueues the jobs and waits until every record is final.
  /// - Throws: when an installation was not accepted or the records do not add up.
  func run(
    _ population: Population, users: Int, watch: (() async throws -> Void)? = nil
  ) async throws {
    var ids: [String] = []
    var jobs: [[UInt8]] = []
    for first in stride(from: 0, to: users, by: BenchLimits.usersPerJobMax) {
      let id = "\(name)-\(ids.count)"
      let last = min(first + BenchLimits.usersPerJobMax, users)
      ids.append(id)
      jobs.append(population.job(id: id, users: first..<last))
    }
    for job in jobs { try await stage.session.enqueue(job) }
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(BenchLimits.campaignMsMax)
    var accepted = 0
    for id in ids {
      accepted += try await finish(id, until: deadline, clock, watch: watch)
    }
    guard accepted == users else {
      throw BenchError(
        "of \(Figure.grouped(users)) pushes the records count \(Figure.grouped(accepted)) accepted")
    }
  }

  /// - Returns: how many installations accepted the push.
  private func finish(
    _ id: String, until deadline: ContinuousClock.Instant, _ clock: ContinuousClock,
    watch: (() async throws -> Void)?
  ) async throws -> Int {
    while clock.now < deadline {
      if let record = try await stage.session.record(id), record.state.isFinal {
        guard record.isBalanced else {
          throw BenchError("the record of job \(id) does not add up: \(record)")
        }
        return record.counts.accepted
      }
      try await watch?()
      try await clock.sleep(until: clock.now + .milliseconds(BenchLimits.pollMs))
    }
    throw BenchError(
      "job \(id) was not delivered within \(BenchLimits.campaignMsMax / 1_000) s")
  }
}
