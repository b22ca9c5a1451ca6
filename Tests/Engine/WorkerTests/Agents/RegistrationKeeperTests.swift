import Logging
import Redis
import TestSupport
import Testing

@testable import Store
@testable import Worker

@Suite struct RegistrationKeeperTests {
  private func complaints(_ parts: LaneStage) -> Int {
    parts.lines.all.count { $0.contains("backends cannot register devices") }
  }

  @Test("the functions are there after a turn, also when somebody has flushed them")
  func provides() async throws {
    try await LaneStage.with { _, parts in
      let keeper = RegistrationKeeper(
        registration: parts.store.registration, log: parts.lines.logger)
      for _ in 0..<2 {
        #expect(await keeper.turn() == WorkerLimits.registrationMs)
        #expect(
          try await parts.store.registration.present() == RegistrationLibrary.currentNumber)
        _ = try await parts.redis("FUNCTION", "FLUSH")
      }
      #expect(parts.lines.has(.info, "loaded the functions for registration"))
    }
  }

  @Test("what Redis refuses is said once, and a lost connection is not spoken of")
  func complains() async throws {
    try await LaneStage.with { _, parts in
      let keeper = RegistrationKeeper(
        registration: parts.store.registration, log: parts.lines.logger)
      let foreign =
        "#!lua name=theirs\nredis.register_function('pushpool_install', function() end)"
      _ = try await parts.redis("FUNCTION", "LOAD", foreign)
      for _ in 0..<2 { #expect(await keeper.turn() == WorkerLimits.registrationMs) }
      #expect(complaints(parts) == 1)
      parts.store.connection.close()
      #expect(await keeper.turn() == WorkerLimits.redisPauseMs)
      #expect(complaints(parts) == 1)
    }
  }
}
