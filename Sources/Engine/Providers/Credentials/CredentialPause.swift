import Synchronization

/// A pause that all lanes of a process see.
final class CredentialPause: Sendable {
  private let paused = Mutex<CredentialError?>(nil)

  /// The running pause, or nil.
  func error(nowMs: Int64) -> CredentialError? {
    paused.withLock { paused in
      if let error = paused, !Self.isRunning(error, nowMs) { paused = nil }
      return paused
    }
  }

  /// One that is longer than any pause can be is over: the clock was set back.
  private static func isRunning(_ pause: CredentialError, _ nowMs: Int64) -> Bool {
    pause.resumeAtMs > nowMs && pause.resumeAtMs - nowMs <= CredentialLimits.pauseMsMax
  }

  /// Begins a pause unless one runs already; returns the one that runs.
  func begin(_ error: CredentialError, nowMs: Int64) -> CredentialError {
    paused.withLock { paused in
      if let running = paused, Self.isRunning(running, nowMs) { return running }
      paused = error
      return error
    }
  }
}
