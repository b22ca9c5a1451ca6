internal import Model

/// The credential of one app and environment that sends with a key which others may share.
///
/// A key that APNs does not let send to this topic or environment is no worse for the others: such a refusal
/// pauses this destination alone and leaves the token as it is.
package struct APNsDestinationCredentials: CredentialSource {
  private let shared: APNsTokenSource
  private let clock: WallClock
  private let pause = CredentialPause()

  package init(shared: APNsTokenSource, clock: WallClock = .system) {
    self.shared = shared
    self.clock = clock
  }

  package func current() async throws(CredentialError) -> Credential {
    if let error = pause.error(nowMs: clock.nowMs()) { throw error }
    return try await shared.current()
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    guard APNsReason(rawValue: reason)?.concernsDestination == true else {
      return try await shared.refused(generation: generation, reason: reason)
    }
    throw pause.begin(
      because: "APNs does not let \(shared.name) send here: \(reason); check that the key is "
        + "enabled for this topic and environment", nowMs: clock.nowMs())
  }
}
