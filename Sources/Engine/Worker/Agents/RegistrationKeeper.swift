internal import Logging
internal import Redis
internal import Store

/// Sees to it that backends find the functions that they register devices with, also after somebody has flushed them.
final class RegistrationKeeper: Agent {
  private let registration: RegistrationStore
  private let log: Logger
  /// The last error that was logged about why they are not there.
  private var complaint: RedisError?

  init(registration: RegistrationStore, log: Logger) {
    self.registration = registration
    self.log = log
  }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      if try await registration.provide() { log.info("loaded the functions for registration") }
      complaint = nil
      return WorkerLimits.registrationMs
    } catch {
      // Pushes do not need them. A lost connection speaks for itself.
      guard case .server = error else { return WorkerLimits.redisPauseMs }
      if error != complaint {
        log.warning("backends cannot register devices by functions: \(error)")
      }
      complaint = error
      return WorkerLimits.registrationMs
    }
  }
}
