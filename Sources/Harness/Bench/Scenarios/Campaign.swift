import Model
import Typesetting

/// Jobs from enqueueing to their final records.
struct Campaign {
  struct Job: Sendable {
    /// Job ids may be used once.
    var id: String
    var bytes: [UInt8]
  }

  /// How many pushes were accepted by when.
  struct Point: Sendable {
    var atSeconds: Double
    var accepted: Int
  }

  let session: BenchSession

  /// Jobs for a range of users, cut where a job would be too long.
  static func jobs(
    _ name: String, _ population: Population, _ message: Message, users: Range<Int>
  ) -> [Job] {
    stride(from: users.lowerBound, to: users.upperBound, by: BenchLimits.usersPerJobMax).map {
      let id = "\(name)-\($0)"
      let part = $0..<min($0 + BenchLimits.usersPerJobMax, users.upperBound)
      return Job(id: id, bytes: message.job(id: id, population: population, users: part))
    }
  }

  /// Makes so many jobs of one user each, for one user after the other.
  static func ofOneUser(
    _ name: String, _ count: Int, _ population: Population, _ message: Message
  ) -> [Job] {
    (0..<count).map { number in
      let (id, user) = ("\(name)-\(number)", number % population.users)
      return Job(
        id: id, bytes: message.job(id: id, population: population, users: user..<user + 1))
    }
  }

  /// Enqueues the jobs and waits until every record is final.
  /// - Throws: when another number of installations accepted the push, or a record does not add up.
  func run(
    _ jobs: [Job], accepting expected: Int, watch: (() async throws -> Void)? = nil
  ) async throws {
    for job in jobs { try await session.enqueue(job.bytes) }
    try await finish(jobs, accepting: expected, watch: watch)
  }

  /// Waits until the first pushes of a job were accepted.
  func isStarted(_ job: Job) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(BenchLimits.startMsMax)
    while clock.now < deadline {
      if let record = try await session.record(job.id), record.counts.accepted > 0 { return }
      try await clock.sleep(for: .milliseconds(BenchLimits.pollMs))
    }
    throw BenchError("the worker did not start sending within \(BenchLimits.startMsMax) ms")
  }

  /// Waits until the records of jobs that were enqueued are final, whatever became of their pushes.
  func end(_ jobs: [Job]) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(BenchLimits.campaignMsMax)
    for job in jobs { _ = try await finish(job.id, until: deadline, clock, watch: nil) }
  }

  /// Waits until the records of jobs that were enqueued are final.
  func finish(
    _ jobs: [Job], accepting expected: Int, watch: (() async throws -> Void)? = nil
  ) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(BenchLimits.campaignMsMax)
    var accepted = 0
    for job in jobs { accepted += try await finish(job.id, until: deadline, clock, watch: watch) }
    guard accepted == expected else {
      throw BenchError(
        "the records count \(FigureText.count(accepted)) pushes as accepted, not "
          + FigureText.count(expected))
    }
  }

  /// - Returns: how many installations accepted the push.
  private func finish(
    _ id: String, until deadline: ContinuousClock.Instant, _ clock: ContinuousClock,
    watch: (() async throws -> Void)?
  ) async throws -> Int {
    while clock.now < deadline {
      if let record = try await session.record(id), record.state.isFinal {
        guard record.isBalanced else {
          throw BenchError("the record of job \(id) does not add up: \(record)")
        }
        return record.counts.accepted
      }
      if let refusal = try await session.refusal() {
        throw BenchError("job \(id) was not delivered: \(refusal)")
      }
      try await watch?()
      try await clock.sleep(until: clock.now + .milliseconds(BenchLimits.pollMs))
    }
    throw BenchError(
      "job \(id) was not delivered within \(BenchLimits.campaignMsMax / 1_000) s")
  }
}
