import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("Several connections of a pool")
struct SecondConnectionTests {
  private static func two(_ settings: inout ClientSettings) {
    settings.connectionsMax = 2
    settings.streamsMax = 10
  }

  @Test("are not opened for what one carries, though it comes again and again")
  func oneIsEnough() async throws {
    try await TestWorld.run(Self.two) { lane, world in
      for round in 1...20 {
        world.sender.send(HTTP2Limits.waitingForOneMax / 4)
        #expect(await world.untilFinished(round * (HTTP2Limits.waitingForOneMax / 4)))
        world.pool.rest()
      }
      await lane.loop.sleep(ms: 20)
      #expect(world.server.accepted == 1)
    }
  }

  @Test("are opened at once for many requests, of which the first connection takes one only")
  func campaign() async throws {
    try await TestWorld.run({
      Self.two(&$0)
      $0.startsWithOneStream = true
    }) { lane, world in
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(HTTP2Limits.waitingForOneMax + 1)
      // Nothing was answered: both were opened before anything was known of the first.
      #expect(await world.until { held.list.count == 2 })
      #expect(world.server.accepted == 2)
    }
  }

  @Test("are not opened for a few requests that wait until the credential is accepted")
  func waitsForAuthorisation() async throws {
    try await TestWorld.run({
      Self.two(&$0)
      $0.startsWithOneStream = true
    }) { lane, world in
      world.sender.send(5)
      #expect(await world.untilFinished(5))
      #expect(world.sender.count(.yes) == 5)
      #expect(world.server.accepted == 1)
    }
  }

  @Test("are opened when all streams of the first are in use and more requests wait")
  func firstIsFull() async throws {
    try await TestWorld.run(Self.two) { lane, world in
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(12)
      #expect(await world.until { held.list.count == 12 })
      #expect(world.server.accepted == 2)
    }
  }

  @Test("are opened when the peer of the first takes no more bytes")
  func windowIsClosed() async throws {
    try await TestWorld.run(Self.two) { lane, world in
      world.sender.pieces = [StableBytes([UInt8](repeating: 97, count: 100_000))]
      world.server.onHeaders = { connection, _ in
        if connection === world.server.connections[0] { connection.stallReads(true) }
      }
      world.sender.send(4)
      #expect(await world.until { world.server.accepted == 2 })
      // Those are in flight where nothing moves: there were streams for more.
      world.sender.send(4)
      #expect(await world.until { world.sender.count(.yes) == 4 })
      #expect(world.sender.connectionEnds.isEmpty)
    }
  }

  @Test("are replaced as they were when one is lost in use")
  func lostInUse() async throws {
    try await TestWorld.run(Self.two) { lane, world in
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(20)
      #expect(await world.until { held.list.count == 20 })
      world.server.connections[0].close()
      #expect(await world.until { world.server.accepted == 3 })
    }
  }

  @Test("that was closed as idle is not opened again for one request")
  func isForgotten() async throws {
    try await TestWorld.run(Self.two) { lane, world in
      world.sender.send(HTTP2Limits.waitingForOneMax + 1)
      #expect(await world.untilFinished(HTTP2Limits.waitingForOneMax + 1))
      #expect(await world.until { world.pool.readyConnections == 2 })
      world.pool.rest()
      world.pool.closeIdle()
      #expect(await world.until { world.pool.readyConnections == 1 })
      world.sender.send(1)
      #expect(await world.untilFinished(HTTP2Limits.waitingForOneMax + 2))
      await lane.loop.sleep(ms: 20)
      #expect(world.server.accepted == 2)
    }
  }

  @Test("give back their buffers in a silence, and carry as much as before after it")
  func silence() async throws {
    try await TestWorld.run({
      $0.connectionsMax = 1
      $0.pingAfterMs = 30
    }) { lane, world in
      for round in 1...3 {
        world.sender.send(2_000)
        #expect(await world.untilFinished(round * 2_000))
        world.pool.rest()
        await lane.loop.sleep(ms: 100)
      }
      #expect(world.sender.count(.yes) == 6_000)
      #expect(world.server.accepted == 1)
      #expect(world.server.violations.isEmpty)
    }
  }
}
