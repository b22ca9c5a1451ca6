import LocalServices
import Operations
import PushpoolConfiguration
import Reactor
import Redis
import Store
import Testing

@testable import CommandLineInterface
@testable import ProgramSetup

/// `--all` is for the letters that were there when the command began.
@Suite struct DeadSelectionTests {
  @Test("letters that come while another command takes the last ones away are left alone")
  func twoAtOnce() async throws {
    try await RedisServer.with { redis in
      let loop = try EventLoop(name: "command line")
      try loop.start()
      defer { loop.stop() }
      try await Program.$loop.withValue(loop) {
        let session = try await RedisSession.open(
          Configuration(redis: RedisConfiguration(url: RedisURL(redis.url))), as: .operator)
        // More than a page.
        let count = CommandLineLimits.deadPage + 2
        let add: @Sendable (ShardStore, Int) async throws(RedisError) -> Void = {
          store, number throws(RedisError) in
          let command = RedisCommand("XADD", store.keys.dead, "\(number)-0", "kind", "job")
          _ = try await store.connection.call(command)
        }
        try await session.run(in: .home) { store throws(RedisError) in
          for number in 1...count { try await add(store, number) }
        }
        var selection = DeadSelection()
        selection.all = true
        selection.entries = []
        var seen = 0
        var last = ""
        try await selection.forEach(in: session) { letter throws(CommandFailure) in
          seen += 1
          last = letter.text
          guard seen == 1 else { return }
          // As another `retry --all` does: it takes the last one, which is refused again.
          try await session.run(in: .home) { store throws(RedisError) in
            _ = try await store.deadLetters.drop("\(count)-0")
            try await add(store, count + 1)
          }
        }
        #expect(seen == count - 1)
        #expect(last == "\(count - 1)-0")
        await session.close()
      }
    }
  }
}
