import LocalServices
import Model
import Stage

/// High-priority jobs of one user each while bulk jobs keep the worker busy, from the producer's XADD
/// to the line in the simulator's accept log.
struct HighPriority {
  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    let bulk = max(with.pushes, BenchLimits.usersPerJobMax)
    let population = Population(
      networks: [.apns], users: bulk + BenchLimits.priorityJobs, markedFrom: bulk)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      let starts = try await stage.withWorker { _ in
        try await enqueue(population, bulk: bulk, stage)
      }
      let samples = try MarkedAccepts.latencies(starts, population, in: stage.acceptLogFile)
      var result = ScenarioResult(scenario.name, pushes: samples.count, runs: 1)
      result.latency = LatencyFigures(samples)
      result.check(scenario.budgets)
      return result
    }
  }

  /// - Returns: when each marked user's job was enqueued, in epoch milliseconds.
  private func enqueue(
    _ population: Population, bulk: Int, _ stage: BenchStage
  ) async throws -> [Int: Int64] {
    let campaign = Campaign(session: stage.session)
    let clock = ContinuousClock()
    var starts: [Int: Int64] = [:]
    var backlog: [Campaign.Job] = []
    var bulkNumber = 0
    for user in bulk..<population.users {
      while backlog.count < BenchLimits.priorityBulkJobs {
        // Another part of the users each time, and one that a job holds.
        let parts = bulk / BenchLimits.usersPerJobMax
        let first = bulkNumber % parts * BenchLimits.usersPerJobMax
        let jobs = Campaign.jobs(
          "bulk-\(bulkNumber)", population, Message(),
          users: first..<first + BenchLimits.usersPerJobMax)
        bulkNumber += 1
        for job in jobs { try await stage.session.enqueue(job.bytes) }
        backlog += jobs
        // The first of them has to be on its way before anything is measured.
        if starts.isEmpty { try await campaign.isStarted(backlog[0]) }
      }
      with.progress.tick(
        "\(scenario.name): \(starts.count) of \(BenchLimits.priorityJobs) jobs beside bulk")
      let id = "urgent-\(user)"
      let job = Message().job(id: id, population: population, users: user..<user + 1)
      starts[user] = EpochClock.nowMs()
      try await stage.session.enqueue(job, priority: .high)
      try await clock.sleep(for: .milliseconds(BenchLimits.priorityPauseMs))
      while let first = backlog.first,
        try await stage.session.record(first.id)?.state.isFinal == true
      {
        backlog.removeFirst()
      }
    }
    let urgent = starts.keys.map { Campaign.Job(id: "urgent-\($0)", bytes: []) }
    try await campaign.finish(urgent, accepting: urgent.count)
    return starts
  }
}
