import Glibc
import Reactor
import Testing
import TestSupport

@Suite("Watching signals")
struct SignalWatchTests {
  @Test("delivers a signal on the loop")
  func delivers() async throws {
    let seen = try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      var seen: [CInt] = []
      // Blocked and raised on this thread only: the other threads of the test keep their own masks.
      SignalWatch.block([SIGUSR2])
      let watch = try SignalWatch(loop: lane.loop, signals: [SIGUSR2]) { signal in
        seen.append(signal)
        occurrences.note()
      }
      pthread_kill(pthread_self(), SIGUSR2)
      #expect(await occurrences.until { !seen.isEmpty })
      withExtendedLifetime(watch) {}
      return seen
    }
    #expect(seen == [SIGUSR2])
  }
}
