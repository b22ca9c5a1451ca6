internal import Logging
internal import Store

/// Names the first few of the entries that cannot be read as jobs, and counts the others.
final class RefusalLog {
  private let log: Logger
  private(set) var count = 0

  init(log: Logger) { self.log = log }

  func note(_ entry: RefusedEntry) {
    count += 1
    guard count <= WorkerLimits.refusalsLogged else { return }
    log.notice(
      "job refused: its entry cannot be read as a job (pushpool dead list)",
      metadata: ["entry": "\(entry.entry)", "reason": "\(entry.reason)"])
  }

  func conclude() {
    guard count > WorkerLimits.refusalsLogged else { return }
    log.notice("jobs refused alike", metadata: ["entries": "\(count)"])
  }
}
