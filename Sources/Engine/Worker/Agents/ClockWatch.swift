internal import Logging
internal import Model

/// Compares a machine's clock with Redis's: nothing is judged by it, but somebody should set it. Loop-bound.
final class ClockWatch {
  private let clock: FleetClock
  private let worker: String
  private let log: Logger
  /// The difference that was logged last.
  private var loggedAheadMs: Int64?

  init(clock: FleetClock, worker: String, log: Logger) {
    self.clock = clock
    self.worker = worker
    self.log = log
  }

  /// The alarm while the difference is not small.
  var alarmCondition: AlarmCondition? {
    sentence(clock.aheadMs).map {
      AlarmCondition(field: AlarmKind.clock.field(worker), sentence: $0)
    }
  }

  /// Logs the difference when it begins, when it changes, and when it is over.
  func report() {
    let aheadMs = clock.aheadMs
    guard let sentence = sentence(aheadMs) else {
      if loggedAheadMs != nil {
        log.notice("this machine's clock agrees with Redis's again")
        loggedAheadMs = nil
      }
      return
    }
    if let loggedAheadMs, abs(aheadMs - loggedAheadMs) <= WorkerLimits.clockDifferenceMsMax {
      return
    }
    loggedAheadMs = aheadMs
    log.error("\(sentence)", metadata: ["ahead_ms": "\(aheadMs)"])
  }

  /// Nil while the difference is small.
  private func sentence(_ aheadMs: Int64) -> String? {
    guard abs(aheadMs) > WorkerLimits.clockDifferenceMsMax else { return nil }
    let seconds = (abs(aheadMs) + 500) / 1_000
    return "the clock of worker \(worker)'s machine is \(seconds) s "
      + "\(aheadMs > 0 ? "ahead of" : "behind") Redis's clock; the worker goes by Redis's: set this "
      + "machine's clock, or Redis's if all workers say so"
  }
}
