/// A row of the table: medians of a scenario's runs, and of memory the largest. What a scenario does not
/// measure is nil.
package struct ScenarioResult: Sendable {
  /// The scenario's name, with what it varies where it has several rows: `growth-100k`.
  package var name: String
  package var pushes: Int
  package var runs: Int
  package var pushesPerSecond: Double?
  package var workerMicroseconds: Double?
  package var h2loadMicroseconds: Double?
  package var ratio: Double?
  package var redisMicroseconds: Double?
  package var simulatorMicroseconds: Double?
  package var redisCommands: Double?
  package var redisClientCommands: Double?
  package var residentMiBMax: Double?
  package var redisMiB: Double?
  /// How long 99 % of the function calls took Redis at most.
  package var redisCallMs: Double?
  package var latency: LatencyFigures?
  /// The ratio of each run, in order: how far to trust the median.
  package var ratios: [Double] = []
  package var checks: [BudgetCheck] = []
  /// A note that a reader of the table should know about this row.
  package var note: String?

  package init(_ name: String, pushes: Int, runs: Int) {
    self.name = name
    self.pushes = pushes
    self.runs = runs
  }

  /// Takes in worker and yardstick, run by run.
  mutating func take(
    _ deliveries: [Delivery.Measurement], beside requests: [Yardstick.Measurement] = []
  ) {
    func perPush(_ figure: (Delivery.Measurement) -> Double) -> Double? {
      Samples.median(deliveries.map { figure($0) / Double($0.pushes) })
    }
    pushesPerSecond = Samples.median(deliveries.map { Double($0.pushes) / $0.wallSeconds })
    workerMicroseconds = perPush { $0.workerCPUMicroseconds }
    redisMicroseconds = perPush { $0.redisCPUMicroseconds }
    simulatorMicroseconds = perPush { $0.simulatorCPUMicroseconds }
    redisCommands = perPush { Double($0.redisCommands) }
    redisClientCommands = perPush { Double($0.redisClientCommands) }
    residentMiBMax = deliveries.map { Double($0.workerResidentBytesMax) / 1_048_576 }.max()
    h2loadMicroseconds = Samples.median(requests.map(\.cpuMicrosecondsPerRequest))
    ratios = zip(deliveries, requests).map { delivery, request in
      delivery.workerCPUMicroseconds / Double(delivery.pushes) / request.cpuMicrosecondsPerRequest
    }
    ratio = Samples.median(ratios)
  }

  /// Holds the figures against these budgets; those that no row's figure is named after come as `others`.
  mutating func check(_ budgets: [Budget], others: [Budget.Measure: Double] = [:]) {
    checks += budgets.map { budget in
      let measured: Double? =
        switch budget.measure {
        case .ratio: ratio
        case .redisCommands: redisCommands
        case .p50: latency?.p50Ms
        case .p99: latency?.p99Ms
        case .residentMiB: residentMiBMax
        case .redisMiB: redisMiB
        case .redisCallMs: redisCallMs
        case .share, .besideCampaign, .jobsPerSecond, .workerPerJob, .redisPerJob, .firstPush,
          .growth, .besidePlain,
          .besideAPNs, .registrations, .besideHSET,
          .lanesBesideOne,
          .workersBesideOne, .functionsShare, .paceError, .campaignBesidePaced, .littleTrouble,
          .troubleInBursts, .muchTrouble, .leastTrouble, .mostTrouble, .rateTaken, .rateWasted,
          .oneServerExpired, .oneStreamReset, .connectionsGoAway, .connectionsClose, .lastPush,
          .lateAnswers, .missingAnswers, .lateAnswersGoAway, .besideSlowRatio, .besideSlowMs,
          .besideNoDistance,
          .admission, .longestCall, .campaignBesideEvents, .idleShare, .bytesPerJob, .connectionKiB,
          .firstRound, .startOfApps, .addedApp:
          others[budget.measure]
        }
      return BudgetCheck(budget, measured)
    }
  }
}

/// How long single pushes took, in milliseconds.
package struct LatencyFigures: Sendable, Equatable {
  package var p50Ms: Double
  package var p99Ms: Double
  package var maxMs: Double

  /// Nil without any sample.
  package init?(_ samples: [Double]) {
    guard let p50 = Samples.percentile(samples, 0.5), let p99 = Samples.percentile(samples, 0.99),
      let max = samples.max()
    else { return nil }
    p50Ms = p50
    p99Ms = p99
    maxMs = max
  }
}
