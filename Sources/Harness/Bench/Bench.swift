import LocalServices

/// Runs scenarios one after the other; what one of them cannot measure keeps none from the others.
struct Bench {
  let with: Circumstances

  func run(_ scenarios: [Scenario]) async -> Report {
    var results: [ScenarioResult] = []
    var failures: [ScenarioFailure] = []
    for scenario in scenarios {
      do {
        results += try await run(scenario)
      } catch {
        with.progress.note("\(scenario.name): \(error)")
        failures.append(ScenarioFailure(name: scenario.name, reason: "\(error)"))
      }
    }
    return Report(results, failures: failures)
  }

  private func run(_ scenario: Scenario) async throws -> [ScenarioResult] {
    switch scenario.kind {
    case .campaign(let shape):
      [try await CampaignScenario(scenario: scenario, shape: shape, with: with).run()]
    case .batches: [try await BatchCampaign(scenario: scenario, with: with).run()]
    case .idleLatency: [try await IdleLatency(scenario: scenario, with: with).run()]
    case .highPriority: [try await HighPriority(scenario: scenario, with: with).run()]
    case .growth: try await Growth(scenario: scenario, with: with).run()
    case .personalTexts: try await PersonalTexts(scenario: scenario, with: with).run()
    case .registration: [try await Registration(scenario: scenario, with: with).run()]
    case .audienceMemory: [try await AudienceMemory(scenario: scenario, with: with).run()]
    case .wakingLanes: [try await WakingLanes(scenario: scenario, with: with).run()]
    case .dueChunks: [try await DueChunks(scenario: scenario, with: with).run()]
    case .pacedJob: [try await PacedJob(scenario: scenario, with: with).run()]
    case .troubledNetwork: try await TroubledNetwork(scenario: scenario, with: with).run()
    case .slowAnswers: try await SlowAnswers(scenario: scenario, with: with).run()
    case .lastPush: [try await LastPush(scenario: scenario, with: with).run()]
    case .limitedRate: try await LimitedRate(scenario: scenario, with: with).run()
    case .smallJobs: [try await SmallJobs(scenario: scenario, with: with).run()]
    case .jobSizes: try await JobSizes(scenario: scenario, with: with).run()
    case .steadyEvents: try await SteadyEvents(scenario: scenario, with: with).run()
    case .farRedis: try await FarRedis(scenario: scenario, with: with).run()
    case .largeJob: [try await LargeJob(scenario: scenario, with: with).run()]
    case .slowNetwork: [try await SlowNetwork(scenario: scenario, with: with).run()]
    case .halfDead: [try await HalfDead(scenario: scenario, with: with).run()]
    case .besideEvents: [try await BesideEvents(scenario: scenario, with: with).run()]
    case .idleLanes: [try await IdleLanes(scenario: scenario, with: with).run()]
    case .indexedCampaign: try await IndexedCampaign(scenario: scenario, with: with).run()
    case .tenants: [try await Tenants(scenario: scenario, with: with).run()]
    case .appsInRedis: [try await AppsInRedis(scenario: scenario, with: with).run()]
    case .backlogMemory: [try await BacklogMemory(scenario: scenario, with: with).run()]
    }
  }
}
