import Synchronization

/// A pause that all lanes of a process see.
final class CredentialPause: Sendable {
  private let paused = Mutex<CredentialError?>(nil)

  /// The running pause, or nil.
  func error(nowMs: Int64) -> CredentialError? {
    paused.withLock { paused in
      if let error = paused, error.resumeAtMs <= nowMs { paused = nil }
      return paused
    }
  }

  /// Begins a pause unless one runs already; returns the one that runs.
  func begin(_ error: CredentialError, nowMs: Int64) -> CredentialError {
    paused.withLock { paused in
      if let running = paused, running.resumeAtMs > nowMs { return running }
      paused = error
      return error
    }
  }
}
