import HTTP2Server
import HTTP2
import Testing
import TestSupport

extension ConformanceTests {
  @Test(
    "takes a stream that the peer calls malformed for the request's trouble",
    arguments: TransportKind.allCases)
  func malformed(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      await world.warmUp()
      let accepted = world.server.accepted
      world.server.onRequest = { connection, request in
        connection.reset(request, errorCode: ErrorCode.protocolError)
      }
      world.sender.send(5)
      #expect(await world.untilFinished(6))
      #expect(world.sender.count(.malformed) == 5)
      // Neither again by itself, nor over another connection.
      #expect(world.server.received == 6)
      world.server.onRequest = { connection, request in ScriptedServer.answer(connection, request) }
      world.sender.send(1)
      #expect(await world.untilFinished(7))
      #expect(world.sender.count(.malformed) == 5)
      #expect(world.server.accepted == accepted)
    }
  }
}
