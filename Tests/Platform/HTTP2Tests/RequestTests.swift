import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("Requests over HTTP/2")
struct RequestTests {
  @Test("10,000 over two connections are all answered, each exactly once")
  func tenThousand() async throws {
    try await TestWorld.run({ $0.connectionsMax = 2 }) { lane, world in
      world.server.settings.maxConcurrentStreams = 500
      world.sender.send(10_000)
      #expect(await world.untilFinished(10_000))
      #expect(world.sender.count(.yes) == 10_000)
      #expect(world.server.received == 10_000)
      #expect(world.server.accepted == 2)
      #expect(world.server.openStreamsMax <= 500)
      #expect(world.server.violations.isEmpty)
      #expect(world.pool.inFlight == 0)
      #expect(await world.until { world.pool.readyConnections == 2 })
    }
  }

  @Test("arrive with their own path, of 4 KB too, and the three pieces of their body in order")
  func pathAndBody() async throws {
    try await TestWorld.run { lane, world in
      let paths = Texts()
      let bodies = Texts()
      world.server.onRequest = { connection, request in
        paths.list.append(request.withPath { String(decoding: $0, as: UTF8.self) })
        bodies.list.append(request.withBody { String(decoding: $0, as: UTF8.self) })
        ScriptedServer.answer(connection, request)
      }
      let long = "/3/device/" + String(repeating: "ab", count: 2_043)
      world.sender.path = { $0 == 0 ? Array(long.utf8) : Array("/\($0)".utf8) }
      let pieces = ["{\"aps\":", String(repeating: "x", count: 20_000), "}"]
      world.sender.pieces = pieces.map { StableBytes(Array($0.utf8)) }
      world.sender.send(3)
      #expect(await world.untilFinished(3))
      #expect(world.sender.count(.yes) == 3)
      #expect(paths.list == [long, "/1", "/2"])
      #expect(bodies.list == Array(repeating: pieces.joined(), count: 3))
    }
  }

  @Test("together larger than the flow-control window all arrive")
  func largeBodies() async throws {
    try await TestWorld.run { lane, world in
      let bytes = Numbers()
      world.server.onRequest = { connection, request in
        bytes.list.append(request.bodyCount)
        ScriptedServer.answer(connection, request)
      }
      // Each but just within what the server takes, which is more than a stream's window.
      world.sender.pieces = [
        StableBytes(
          [UInt8](repeating: 98, count: HTTP2ServerLimits.requestBodyBytesMax))
      ]
      world.sender.send(40)
      #expect(await world.untilFinished(40))
      #expect(world.sender.count(.yes) == 40)
      #expect(bytes.list == Array(repeating: HTTP2ServerLimits.requestBodyBytesMax, count: 40))
    }
  }

  @Test("without a body are answered as well")
  func emptyBody() async throws {
    try await TestWorld.run { lane, world in
      world.sender.pieces = [StableBytes([])]
      world.sender.send(10)
      #expect(await world.untilFinished(10))
      #expect(world.sender.count(.yes) == 10)
    }
  }

  @Test("keep no more of an answer's body than the bound, and nothing of the one before")
  func boundedAnswer() async throws {
    try await TestWorld.run({ $0.streamsMax = 1 }) { lane, world in
      let isLarge = Flag(true)
      world.server.onRequest = { connection, request in
        connection.respond(
          request, status: 400, headers: [],
          body: [UInt8](repeating: 99, count: isLarge.isSet ? 200_000 : 3))
      }
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      isLarge.isSet = false
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(
        world.sender.endedOnce.map(\.body.utf8.count) == [HTTP2Limits.answerBodyBytesMax, 3])
    }
  }

  @Test("answered before their body was read keep the answer when NO_ERROR resets them")
  func earlyAnswer() async throws {
    try await TestWorld.run { lane, world in
      let early = Requests()
      world.server.onHeaders = { connection, request in
        // The rest of the body is not read, so only the reset can end the stream.
        connection.stallReads(true)
        connection.respond(
          request, status: 413, headers: [], body: Array("PayloadTooLarge".utf8))
        early.list.append(request)
      }
      world.sender.pieces = [StableBytes([UInt8](repeating: 98, count: 200_000))]
      world.sender.send(1)
      #expect(await world.until { early.list.count == 1 })
      await lane.loop.sleep(ms: 10)
      #expect(world.sender.finished == 0)
      world.server.connections[0].reset(early.list[0], errorCode: ErrorCode.none)
      #expect(await world.untilFinished(1))
      #expect(
        world.sender.endedOnce
          == [.init(disposition: .answered, status: 413, body: "PayloadTooLarge")])
    }
  }

  @Test("answered in full but never read keep the answer when their time is over")
  func earlyAnswerWithoutReset() async throws {
    try await TestWorld.run({ $0.requestTimeoutMs = 500 }) { lane, world in
      world.server.onHeaders = { connection, request in
        connection.stallReads(true)
        connection.respond(request, status: 413, headers: [])
      }
      world.sender.pieces = [StableBytes([UInt8](repeating: 98, count: 200_000))]
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      #expect(world.sender.endedOnce == [.init(disposition: .answered, status: 413)])
    }
  }

  @Test(
    "cut short by a reset: a 200 stands, NO_ERROR lets any answer stand, else nobody knows",
    arguments: [
      (200, ErrorCode.internalError, true), (413, ErrorCode.none, true),
      (503, ErrorCode.internalError, false), (0, ErrorCode.internalError, false),
      (0, ErrorCode.none, false),
    ])
  func reset(status: Int, errorCode: UInt32, isAnswered: Bool) async throws {
    try await TestWorld.run { lane, world in
      let held = Requests()
      world.server.onRequest = { connection, request in
        held.list.append(request)
        guard status > 0 else { return }
        // Larger than the window, which is not opened again: the answer stays incomplete.
        connection.respond(
          request, status: status, headers: [], body: [UInt8](repeating: 99, count: 200_000))
        connection.stallReads(true)
      }
      world.sender.send(1)
      #expect(await world.until { held.list.count == 1 })
      await lane.loop.sleep(ms: 10)
      world.server.connections[0].reset(held.list[0], errorCode: errorCode)
      #expect(await world.untilFinished(1))
      #expect(world.sender.endedOnce.map(\.disposition) == [isAnswered ? .answered : .unknown])
      #expect(world.sender.endedOnce.map(\.status) == [isAnswered ? status : 0])
    }
  }
}
