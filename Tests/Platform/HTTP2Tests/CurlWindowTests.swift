import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@testable import CurlTransport

@Suite struct CurlWindowTests {
  @Test("while the peer's window is closed libcurl is called now and then, and not in each turn")
  func waitsForWindow() async throws {
    try await TestWorld.run(
      over: .curl, { $0.requestTimeoutMs = 1_000 }
    ) { lane, world in
      // Larger than the connection's window together, which is not opened again.
      world.server.settings.opensWindows = false
      await world.warmUp()
      let pool = try #require(world.transport as? CurlPool)
      world.sender.pieces = [StableBytes([UInt8](repeating: 98, count: 30_000))]
      world.sender.send(5)
      #expect(await world.until { world.server.received >= 4 })
      let before = pool.multi.calls
      #expect(await world.untilFinished(6))
      #expect(world.sender.count(.unknown) >= 1)
      // Within about a second.
      #expect(pool.multi.calls - before < 500)
    }
  }
}
