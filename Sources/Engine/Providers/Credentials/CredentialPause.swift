import Synchronization

/// A pause that all lanes of a process see.
final class CredentialPause: Sendable {
  private struct State {
    var paused: CredentialError?
    var backOff = RefusalBackOff()
  }

  private let state = Mutex(State())

  /// The running pause, or nil.
  func error(nowMs: Int64) -> CredentialError? {
    state.withLock { state in
      if let error = state.paused, !Self.isRunning(error, nowMs) { state.paused = nil }
      return state.paused
    }
  }

  /// One that is longer than any pause can be is over: the clock was set back.
  private static func isRunning(_ pause: CredentialError, _ nowMs: Int64) -> Bool {
    pause.resumeAtMs > nowMs && pause.resumeAtMs - nowMs <= CredentialLimits.pauseMsMax
  }

  /// Begins a pause after a refusal, unless one runs already; returns the one that runs.
  func begin(because reason: String, nowMs: Int64) -> CredentialError {
    state.withLock { state in
      if let running = state.paused, Self.isRunning(running, nowMs) { return running }
      let error = CredentialError(
        reason: reason, resumeAtMs: nowMs + state.backOff.waitMs(nowMs: nowMs))
      state.paused = error
      return error
    }
  }
}
