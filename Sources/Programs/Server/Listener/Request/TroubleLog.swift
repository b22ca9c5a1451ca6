internal import Logging
internal import Synchronization

/// Tells the log of requests that were not done through a fault of the server or of Redis. Of those with the same route and
/// cause one a second is told, with the count of those that were not: a Redis that is away for a minute must not fill the disk.
final class TroubleLog: Sendable {
  private struct Told {
    var at: ContinuousClock.Instant
    /// How many were not told since.
    var heldBack = 0
  }

  private let log: Logger
  private let now: @Sendable () -> ContinuousClock.Instant
  private let told = Mutex<[String: Told]>([:])
  /// Kinds that are remembered. Of further ones each request is told.
  private static let kindsMax = 1_000

  init(
    _ log: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.log = log
    self.now = now
  }

  func tell(_ problem: Problem, of request: String, _ route: APIRoute?) {
    guard problem.status >= 500, let heldBack = turn(kind(problem, route)) else { return }
    var metadata: Logger.Metadata = [
      "request": "\(request)", "route": "\(route?.pattern.text ?? "")",
      "status": "\(problem.status)",
    ]
    if heldBack > 0 { metadata["more"] = "\(heldBack)" }
    log.warning(
      "a request was not done: \(problem.cause ?? problem.detail)", metadata: metadata)
  }

  private func kind(_ problem: Problem, _ route: APIRoute?) -> String {
    let name = route.map { "\($0.method.rawValue) \($0.pattern.text)" } ?? ""
    return "\(problem.status) \(name) \(problem.cause ?? "")"
  }

  /// - Returns: how many were not told before this one; nil when it is not told either.
  private func turn(_ kind: String) -> Int? {
    let now = now()
    return told.withLock { told in
      if let last = told[kind], last.at.duration(to: now) < .seconds(1) {
        told[kind]?.heldBack += 1
        return nil
      }
      let heldBack = told.removeValue(forKey: kind)?.heldBack ?? 0
      if told.count >= Self.kindsMax {
        told = told.filter { $0.value.at.duration(to: now) < .seconds(1) }
      }
      if told.count < Self.kindsMax { told[kind] = Told(at: now) }
      return heldBack
    }
  }
}
