import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("The limit of concurrent streams")
struct StreamLimitTests {
  @Test("is followed down to 1 and up again while requests are in flight")
  func followed() async throws {
    try await TestWorld.run { lane, world in
      world.server.settings.maxConcurrentStreams = 100
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      let answerHeld = {
        let requests = held.list
        held.list = []
        for request in requests { ScriptedServer.answer(world.server.connections[0], request) }
      }
      world.sender.send(1_000)
      #expect(await world.until { held.list.count == 100 })
      await lane.loop.sleep(ms: 5)
      #expect(held.list.count == 100)
      #expect(world.server.openStreamsMax == 100)

      world.server.connections[0].changeMaxConcurrentStreams(1)
      // The client has seen the new limit once it has answered what was sent after it.
      await lane.loop.sleep(ms: 20)
      answerHeld()
      for _ in 0..<20 {
        #expect(await world.until { !held.list.isEmpty })
        #expect(world.server.connections[0].openStreams == 1)
        #expect(world.pool.inFlight == 1)
        answerHeld()
      }
      #expect(await world.until { !held.list.isEmpty })
      world.server.connections[0].changeMaxConcurrentStreams(50)
      #expect(await world.until { held.list.count == 50 })
      #expect(world.pool.streamsAllowed == 50)
      world.server.onRequest = ScriptedServer.answer
      answerHeld()
      #expect(await world.untilFinished(1_000))
      #expect(world.sender.count(.yes) == 1_000)
      #expect(world.server.openStreamsMax == 100)
      #expect(world.server.violations.isEmpty)
    }
  }

  @Test(
    "of 0 holds everything back until it is raised, and nothing is lost", .timeLimit(.minutes(1)))
  func zero() async throws {
    try await TestWorld.run { lane, world in
      world.server.settings.maxConcurrentStreams = 0
      world.sender.send(100)
      #expect(await world.until { world.sender.opened == 1 })
      await lane.loop.sleep(ms: 10)
      #expect(world.sender.submitted == 0)
      world.server.connections[0].changeMaxConcurrentStreams(10)
      #expect(await world.untilFinished(100))
      #expect(world.sender.count(.yes) == 100)
      #expect(world.server.openStreamsMax <= 10)
    }
  }

  @Test("is one until the first answer that is not 403, where the provider demands it")
  func oneUntilAuthorised() async throws {
    try await TestWorld.run({ $0.startsWithOneStream = true }) { lane, world in
      let answered = Numbers()
      world.server.onRequest = { connection, request in
        #expect(connection.openStreams == 1)
        answered.list.append(connection.openStreams)
        guard answered.list.count > 3 else {
          return connection.respond(request, status: 403, headers: [])
        }
        ScriptedServer.answer(connection, request)
        world.server.onRequest = { _, _ in }
      }
      world.sender.send(200)
      // Three are refused, one is accepted, and then all the others are in flight at once.
      #expect(await world.until { world.server.connections.first?.openStreams == 196 })
      #expect(answered.list == [1, 1, 1, 1])
      #expect(world.sender.finished == 4)
      #expect(world.sender.count(.init(disposition: .answered, status: 403)) == 3)
    }
  }

  @Test("never lets more in flight than the pool's own limit")
  func ownLimit() async throws {
    try await TestWorld.run({ $0.streamsMax = 7 }) { lane, world in
      world.sender.send(500)
      #expect(await world.untilFinished(500))
      #expect(world.server.openStreamsMax == 7)
      #expect(world.pool.streamsAllowed == 7)
      #expect(world.sender.count(.yes) == 500)
    }
  }
}
