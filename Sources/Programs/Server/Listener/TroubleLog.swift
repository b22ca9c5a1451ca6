internal import Logging
internal import Synchronization

/// Tells the log of requests that were not done through a fault of the server or of Redis. Of each status one a second is told,
/// with the count of those that were not: a Redis that is away for a minute must not fill the disk.
final class TroubleLog: Sendable {
  private struct Told {
    var at: ContinuousClock.Instant
    /// How many were not told since.
    var heldBack = 0
  }

  private let log: Logger
  private let now: @Sendable () -> ContinuousClock.Instant
  private let told = Mutex<[Int: Told]>([:])

  init(
    _ log: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.log = log
    self.now = now
  }

  func tell(_ problem: Problem, of request: String, _ route: APIRoute?) {
    guard problem.status >= 500, let heldBack = turn(problem.status) else { return }
    var metadata: Logger.Metadata = [
      "request": "\(request)", "route": "\(route?.pattern.text ?? "")",
      "status": "\(problem.status)",
    ]
    if heldBack > 0 { metadata["more"] = "\(heldBack)" }
    log.warning(
      "a request was not done: \(problem.cause ?? problem.detail)", metadata: metadata)
  }

  /// - Returns: how many were not told before this one; nil when it is not told either.
  private func turn(_ status: Int) -> Int? {
    let now = now()
    return told.withLock { told in
      guard let last = told[status], last.at.duration(to: now) < .seconds(1) else {
        return told.updateValue(Told(at: now), forKey: status)?.heldBack ?? 0
      }
      told[status]?.heldBack += 1
      return nil
    }
  }
}
