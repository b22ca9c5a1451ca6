internal import Logging
internal import Redis
internal import Store

/// Logs each reason once, and now and then how often it came up, so that a campaign does not fill the log;
/// loop-bound.
final class ReasonLog {
  private let log: Logger
  private var counts: [String: Int] = [:]

  init(log: Logger) { self.log = log }

  /// - Parameter metadata: of the first time; a reason is the same whatever it is.
  func note(_ reason: String, level: Logger.Level = .warning, metadata: Logger.Metadata = [:]) {
    let seen = counts[reason, default: 0]
    guard seen > 0 || counts.count < WorkerLimits.reasonsMax else { return }
    counts[reason] = seen + 1
    if seen == 0 { log.log(level: level, "\(reason)", metadata: metadata) }
  }

  /// Logs what Redis refuses, for its operator to hear of. A lost connection speaks for itself.
  func note(_ error: RedisError, during work: String, metadata: Logger.Metadata = [:]) {
    guard case .server = error else { return log.debug("\(work): \(error)") }
    note(
      "\(work) fails and is tried again: \(DocumentedUser.worker.explain(error))",
      metadata: metadata)
  }

  /// Logs how often each reason came up, and starts again.
  func logCounts() {
    for (reason, count) in counts where count > 1 {
      log.notice("\(reason)", metadata: ["times": "\(count)"])
    }
    counts.removeAll(keepingCapacity: true)
  }
}
