import LocalServices
import Model
import Stage

/// A job that names as many users as a job may, beside jobs of one user each: when it is admitted, for how long a call on its way
/// keeps Redis from everybody else, and what the small ones wait meanwhile.
struct LargeJob {
  private struct Measurement {
    var admittedSeconds: Double
    var latencies: [Int: Int64]
    var calls: FunctionCalls
  }

  let scenario: Scenario
  let with: Circumstances

  private static let lanes = 16
  private static let users = Limits.usersPerJobMax
  /// Small jobs of one run, more than are enqueued until the large one is admitted.
  private static let smallJobs = BenchLimits.besideLargePerSecond * BenchLimits.largeSecondsMax

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.lanes = Self.lanes
    settings.keepsAcceptLog = true
    let population = Population(
      networks: [.apns], users: Self.users + Self.smallJobs * with.runs, markedFrom: Self.users)
    return try await BenchStage.with(with.programs, settings) { stage in
      let load = InstallationLoad(
        session: stage.session, population: population, progress: with.progress)
      // Most users of the large job have no installation here: what its admission takes does not depend on it.
      try await load.run(0..<BenchLimits.warmUpUsers)
      try await load.run(Self.users..<population.users)
      let producing = try await BenchSession.open(url: stage.redis.url)
      let result: Result<[Measurement], any Error>
      do {
        result = .success(try await measure(population, stage, producing))
      } catch { result = .failure(error) }
      await producing.close()
      return try self.result(result.get(), population, stage)
    }
  }

  private func measure(
    _ population: Population, _ stage: BenchStage, _ producing: BenchSession
  ) async throws -> [Measurement] {
    try await stage.withWorker { _ in
      let warmUp = Campaign.jobs(
        "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
      try await Campaign(session: stage.session).run(warmUp, accepting: BenchLimits.warmUpUsers)
      var measured: [Measurement] = []
      for number in 0..<with.runs {
        with.progress.say("\(scenario.name): \(number + 1) of \(with.runs)")
        measured.append(try await measure(number, population, stage, producing))
      }
      return measured
    }
  }

  private func measure(
    _ number: Int, _ population: Population, _ stage: BenchStage, _ producing: BenchSession
  ) async throws -> Measurement {
    let id = "large-\(number)"
    let job = Campaign.Job(
      id: id, bytes: Message().job(id: id, population: population, users: 0..<Self.users))
    let first = Self.users + number * Self.smallJobs
    let producer = SteadyProducer(
      session: producing, population: population, perSecond: BenchLimits.besideLargePerSecond,
      priority: .high)
    try await stage.watchCalls()
    let (large, starts) = try await producer.run(first..<first + Self.smallJobs) {
      try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.beforeLargeMs))
      return try await admit(job, stage.session)
    }
    let calls = try await stage.session.functionCalls()
    try await Campaign(session: stage.session).finish([job], accepting: BenchLimits.warmUpUsers)
    return Measurement(
      admittedSeconds: large.seconds, latencies: starts.filter { large.during.contains($0.value) },
      calls: calls)
  }

  /// Enqueues a job and waits until it is admitted.
  /// - Returns: how long that took, and from when to when, in epoch milliseconds.
  private func admit(
    _ job: Campaign.Job, _ session: BenchSession
  ) async throws -> (seconds: Double, during: ClosedRange<Int64>) {
    let (startMs, start) = (EpochClock.nowMs(), ContinuousClock.now)
    try await session.enqueue(job.bytes)
    while try await session.record(job.id)?.isAdmitted != true {
      guard ContinuousClock.now - start < .seconds(BenchLimits.largeSecondsMax) else {
        throw BenchError(
          "a job of \(Self.users) users was not admitted within \(BenchLimits.largeSecondsMax) s")
      }
      try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.largePollMs))
    }
    return ((ContinuousClock.now - start) / .seconds(1), startMs...EpochClock.nowMs())
  }

  private func result(
    _ measured: [Measurement], _ population: Population, _ stage: BenchStage
  ) throws -> ScenarioResult {
    let starts = measured.flatMap { Array($0.latencies) }
    let samples = try MarkedAccepts.latencies(starts, population, in: stage.acceptLogFile)
    var result = ScenarioResult(scenario.name, pushes: samples.count, runs: with.runs)
    result.latency = LatencyFigures(samples)
    result.redisCallMs = measured.map(\.calls.p99Ms).max()
    result.note =
      measured.map {
        "admitted after \(Figure.text($0.admittedSeconds, decimals: 2)) s, \($0.calls.text)"
      }.joined(separator: "; ")
    var others: [Budget.Measure: Double] = [:]
    others[.admission] = Samples.median(measured.map(\.admittedSeconds))
    others[.longestCall] = FunctionCalls.longestMs(measured.map(\.calls))
    result.check(scenario.budgets, others: others)
    return result
  }
}
