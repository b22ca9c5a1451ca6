internal import Logging
internal import Model
internal import Providers

/// Keeps the credential of one destination: obtains it, renews it in time, and answers refusals.
final class CredentialKeeper: Agent {
  private let destination: Destination
  private let clock: FleetClock
  private let log: Logger
  /// The reason that the log was told last, and when, by `FleetClock.uptimeMs`.
  private var told: (reason: String, atMs: Int64)?

  init(destination: Destination, clock: FleetClock, log: Logger) {
    self.destination = destination
    self.clock = clock
    self.log = log
  }

  func turn() async -> UInt64 {
    let source = destination.provider.credentials
    do throws(CredentialError) {
      let credential: Credential
      if let refusal = destination.refusal {
        credential = try await source.refused(
          generation: refusal.generation, reason: refusal.reason)
      } else {
        credential = try await source.current()
      }
      destination.use(credential)
      return msUntil(credential.refreshAtMs)
    } catch {
      tell(error.reason)
      let waitMs = min(msUntil(error.resumeAtMs), UInt64(CredentialLimits.pauseMsMax))
      destination.pause(forMs: waitMs, because: error.reason)
      return waitMs
    }
  }

  /// Says once a minute what goes on: a Redis that is away is asked each second.
  private func tell(_ reason: String) {
    let nowMs = FleetClock.uptimeMs
    if let told, told.reason == reason, nowMs - told.atMs < WorkerLimits.credentialLogMs { return }
    told = (reason, nowMs)
    log.error(
      "\(reason)",
      metadata: [
        "app": "\(destination.app)", "network": "\(destination.provider.network.rawValue)",
      ])
  }

  private func msUntil(_ instantMs: Int64) -> UInt64 {
    let nowMs = clock.nowMs
    // A second at least: a renewal that is due and fails is not to be tried in a circle.
    return UInt64(min(max(instantMs, nowMs + 1_000) - nowMs, 3_600_000))
  }
}
