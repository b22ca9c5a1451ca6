internal import Model
internal import Store

/// Tokens that a network calls bad and that may only be of the other environment: they are tried there before they are
/// removed; loop-bound.
final class DoubtfulTokens {
  private let destinations: DestinationTable
  /// Where other workers can send to.
  private let fleet: FleetRoutes
  private let router: PushRouter
  private let rescheduling: Rescheduling
  private let reasons: ReasonLog

  init(
    destinations: DestinationTable, fleet: FleetRoutes, router: PushRouter,
    rescheduling: Rescheduling, reasons: ReasonLog
  ) {
    self.destinations = destinations
    self.fleet = fleet
    self.router = router
    self.rescheduling = rescheduling
    self.reasons = reasons
  }

  /// Decides about a token that is called bad: it is tried in the other environment once, where the app
  /// has credentials and the job allows it. Never removed is one that could not be tried there.
  func decide(_ run: PushRun, _ index: Int, _ reason: String) {
    let push = run.pushes[index]
    guard !push.isRedirected else { return run.decideDoubtful(index, reason: reason) }
    let other = push.environment.other
    let number = destinations.number(
      app: run.claim.app, network: push.network, environment: other)
    guard let number else { return decideElsewhere(run, index, reason) }
    let target = PushTarget(to: number)
    guard target != push.target else { return run.decideDoubtful(index, reason: reason) }
    guard run.material.content.environments.contains(other) else {
      reasons.note(
        "\(run.claim.app): \(push.network.rawValue) calls device tokens bad that a job may not try in "
          + "\(other.rawValue): they are kept")
      return run.decide(index, .rejected)
    }
    run.redirect(index, to: target)
    router.enqueue(run, push: index)
    destinations[number]?.wake()
  }

  /// Decides about a token that is called bad, whose other environment this worker has no credentials for: another
  /// worker that has them tries it.
  private func decideElsewhere(_ run: PushRun, _ index: Int, _ reason: String) {
    let push = run.pushes[index]
    let other = push.environment.other
    guard run.material.content.environments.contains(other) else {
      return run.decideDoubtful(index, reason: reason)
    }
    // A token that goes to and fro between two that have one environment each must come to an end.
    guard !rescheduling.isLastAttempt(run, index) else {
      return run.decide(index, .failed, because: .attemptsUsedUp)
    }
    switch fleet.othersHave(run.claim.app, push.network, other) {
    case true?:
      run.discountMisfit(index)
      run.decideUnrouted(index, for: other, attempt: Int(push.attempt))
    case false?: run.decideDoubtful(index, reason: reason)
    case nil: rescheduling.retry(run, index, afterMs: WorkerLimits.routesUnknownMs)
    }
  }
}
