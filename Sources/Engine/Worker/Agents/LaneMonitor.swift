/// Looks after destinations that cannot be reached, and reports latencies, reasons and alarms: each beat.
final class LaneMonitor: Agent {
  /// Beats between two counts of reasons in the log.
  private static let beatsPerCount = 60

  private let destinations: DestinationWatch
  private let descriptors: DescriptorRelief
  private let reasons: ReasonLog
  private let latencies: LatencyReporter
  private let alarms: AlarmKeeper
  /// The watches of the process, in the lane that speaks for it; nil in the others.
  private let process: ProcessWatches?
  private var beats = 0

  init(
    destinations: DestinationWatch, descriptors: DescriptorRelief, reasons: ReasonLog,
    latencies: LatencyReporter, alarms: AlarmKeeper, process: ProcessWatches?
  ) {
    self.destinations = destinations
    self.descriptors = descriptors
    self.reasons = reasons
    self.latencies = latencies
    self.alarms = alarms
    self.process = process
  }

  func turn() async -> UInt64 {
    destinations.look()
    descriptors.check()
    descriptors.closeSurplus()
    beats += 1
    if beats % Self.beatsPerCount == 0 { reasons.logCounts() }
    await latencies.report()
    process?.report()
    await alarms.report(destinations.alarmConditions + conditionsOfProcess)
    return WorkerLimits.beatMs
  }

  func finish() async { await latencies.report() }

  private var conditionsOfProcess: [AlarmCondition] {
    guard let process else { return [] }
    return [descriptors.alarmCondition].compactMap { $0 } + process.alarmConditions
  }
}
