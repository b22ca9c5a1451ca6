import Model
import Stage
import Synchronization

/// Enqueues jobs of one user each at a steady rate, to users of whom each gets one. It does not wait for Redis before the next:
/// what keeps Redis busy must not hide itself by holding up who measures it.
final class SteadyProducer: Sendable {
  let session: BenchSession
  let population: Population
  let perSecond: Int
  let priority: Priority
  private let isStopped = Atomic(false)

  /// Jobs that Redis has not answered yet.
  private static let waitingMax = 5_000

  init(
    session: BenchSession, population: Population, perSecond: Int, priority: Priority = .normal
  ) {
    self.session = session
    self.population = population
    self.perSecond = perSecond
    self.priority = priority
  }

  static func id(_ user: Int) -> String { "steady-\(user)" }

  /// - Returns: when each user's job was enqueued, in epoch milliseconds.
  func run(_ users: Range<Int>) async throws -> [Int: Int64] {
    let clock = ContinuousClock()
    let start = clock.now
    var starts: [Int: Int64] = [:]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in users {
        let number = user - users.lowerBound
        let job = Message().job(
          id: Self.id(user), population: population, users: user..<user + 1)
        // A task's sleep wakes up late: what has come due meanwhile follows at once.
        let due = start + .microseconds(number * 1_000_000 / perSecond)
        if clock.now < due { try await clock.sleep(until: due) }
        if isStopped.load(ordering: .relaxed) { break }
        if number >= Self.waitingMax { try await group.next() }
        starts[user] = EpochClock.nowMs()
        let (session, priority) = (session, priority)
        group.addTask { try await session.enqueue(job, priority: priority) }
      }
      try await group.waitForAll()
    }
    return starts
  }

  /// Has `run` return soon.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Runs the body while jobs are enqueued, and waits until the last of them have ended.
  /// - Returns: what the body does, and when each user's job was enqueued.
  func run<Result: Sendable>(
    _ users: Range<Int>, during body: () async throws -> Result
  ) async throws -> (Result, [Int: Int64]) {
    let producing = Task { try await run(users) }
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    stop()
    let starts = try await producing.value
    try await finish(starts)
    return (try result.get(), starts)
  }

  /// Waits until the last jobs have ended.
  func finish(_ starts: [Int: Int64]) async throws {
    let last = starts.keys.sorted().suffix(BenchLimits.lastJobs)
    try await Campaign(session: session).finish(
      last.map { Campaign.Job(id: Self.id($0), bytes: []) }, accepting: last.count)
  }
}
