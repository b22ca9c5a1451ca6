/// What a scenario's repeats come to: medians, and of memory the largest.
package struct ScenarioResult: Sendable {
  package var scenario: Scenario
  package var pushes: Int
  package var repeats: Int
  /// One row of the table; what a scenario does not measure is nil.
  package var pushesPerSecond: Double?
  package var workerMicroseconds: Double?
  package var h2loadMicroseconds: Double?
  package var ratio: Double?
  package var redisMicroseconds: Double?
  package var simulatorMicroseconds: Double?
  package var redisCommands: Double?
  package var redisClientCommands: Double?
  package var residentMiBMax: Double?
  /// The ratio of each repeat, in order: how far to trust the median.
  package var ratios: [Double] = []
  package var budgets: [Budget] = []

  package init(_ scenario: Scenario, pushes: Int, repeats: Int) {
    self.scenario = scenario
    self.pushes = pushes
    self.repeats = repeats
  }

  mutating func take(_ deliveries: [Delivery.Measurement]) {
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
  }
}
