import HTTP2Server
import Glibc
import HTTP2
import Reactor
import Testing
import TestSupport

@testable import CurlTransport

@Suite struct CurlShortageTests {
  @Test("a shortage of descriptors that is over is not named when a connection fails later")
  func forgetsShortage() async throws {
    try await TestWorld.run(over: .curl) { lane, world in
      let pool = try #require(world.transport as? CurlPool)
      // As if the first address had got no socket, and the next one did.
      pool.sockets.failed(SystemError("socket", errno: EMFILE))
      await world.warmUp()
      #expect(pool.sockets.shortage == nil)
      // Nobody listens any more.
      world.server.stopListening()
      world.server.connections[0].close()
      world.sender.send(1)
      #expect(await world.until { world.sender.connectionEnds.count >= 2 })
      for end in world.sender.connectionEnds {
        if case .failed(.system(let error)) = end { #expect(!error.isOutOfDescriptors) }
      }
    }
  }
}
