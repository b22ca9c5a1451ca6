import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("One bad connection of several")
struct BadConnectionTests {
  private static let connections = 4

  /// Opens all connections, and has whichever takes the next request treat all of its own so from then on.
  /// - Returns: the requests that it has taken.
  private static func prepare(
    _ world: TestWorld, bad: @escaping (ServerConnection, ServerRequest) -> Void
  ) async -> Requests {
    world.sender.sign = { ending in
      switch ending.disposition {
      case .answered: ending.status == 200 ? .good : .graveTrouble
      case .unknown: .graveTrouble
      case .notSent, .malformed: .none
      }
    }
    world.sender.send(HTTP2Limits.waitingForOneMax + 1)
    #expect(await world.untilAccepted(HTTP2Limits.waitingForOneMax + 1))
    #expect(await world.until { world.pool.readyConnections == connections })
    let taken = Requests()
    var badID: UInt64?
    world.server.onRequest = { connection, request in
      if badID == nil { badID = connection.id }
      guard connection.id == badID else { return ScriptedServer.answer(connection, request) }
      taken.list.append(request)
      bad(connection, request)
    }
    return taken
  }

  private static func several(_ settings: inout ClientSettings) {
    settings.connectionsMax = connections
    settings.streamsMax = 10
  }

  /// Sends one request after the other, each when the one before it has ended.
  private static func sendInTurn(_ count: Int, _ world: TestWorld) async {
    for _ in 0..<count {
      let finished = world.sender.finished
      world.sender.send(1)
      #expect(await world.untilFinished(finished + 1))
    }
  }

  @Test("is not asked again at once for being empty, after a request of it failed at once")
  func isAvoided() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      let taken = await Self.prepare(world) { $0.respond($1, status: 503, headers: []) }
      await Self.sendInTurn(20, world)
      #expect((1...5).contains(taken.list.count))
      #expect(world.sender.accepted >= HTTP2Limits.waitingForOneMax + 16)
    }
  }

  @Test("is tried now and then, and replaced when it has failed again")
  func isReplaced() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      let taken = await Self.prepare(world) { $0.respond($1, status: 503, headers: []) }
      while world.sender.troubles.isEmpty, world.sender.finished < 2_000 {
        await Self.sendInTurn(1, world)
        await lane.loop.sleep(ms: 5)
      }
      let trouble = try #require(world.sender.troubles.first)
      #expect(trouble.kind == .status(503) && trouble.connections == Self.connections)
      #expect(trouble.requests == taken.list.count && taken.list.count <= 5)
      world.sender.send(1)
      #expect(await world.until { world.server.accepted == Self.connections + 1 })
      #expect(await world.until { world.pool.readyConnections == Self.connections })
      await Self.sendInTurn(20, world)
      #expect(trouble.requests == taken.list.count)
      #expect(world.sender.troubles.count == 1)
    }
  }

  @Test("is used as before as soon as something is good on it")
  func isForgiven() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      var failures = 1
      let taken = await Self.prepare(world) { connection, request in
        failures -= 1
        connection.respond(request, status: failures >= 0 ? 503 : 200, headers: [])
      }
      while taken.list.count < 10, world.sender.finished < 2_000 {
        await Self.sendInTurn(1, world)
        await lane.loop.sleep(ms: 5)
      }
      #expect(taken.list.count == 10)
      #expect(world.sender.troubles.isEmpty && world.server.accepted == Self.connections)
    }
  }

  @Test("that answers nothing swallows one request, and not what is tried again")
  func isSilent() async throws {
    try await TestWorld.run({
      Self.several(&$0)
      $0.requestTimeoutMs = 300
    }) { lane, world in
      let taken = await Self.prepare(world) { _, _ in }
      await Self.sendInTurn(8, world)
      #expect((1...3).contains(taken.list.count))
      #expect(world.sender.count(.unknown) == taken.list.count)
    }
  }

  @Test("that has answered nothing for a second takes no more while its first request waits")
  func lags() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      let taken = await Self.prepare(world) { _, _ in }
      world.sender.send(1)
      #expect(await world.until { taken.list.count == 1 })
      await lane.loop.sleep(ms: HTTP2Limits.laggingNs / 1_000_000 + 100)
      world.sender.send(5)
      #expect(await world.untilAccepted(HTTP2Limits.waitingForOneMax + 1 + 5))
      #expect(taken.list.count == 1)
    }
  }

  @Test("is none when all are bad: each is asked, and none is replaced")
  func allAreBad() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      _ = await Self.prepare(world) { $0.respond($1, status: 503, headers: []) }
      world.server.onRequest = { $0.respond($1, status: 503, headers: []) }
      let finished = world.sender.finished
      world.sender.send(400)
      #expect(await world.untilFinished(finished + 400))
      await Self.sendInTurn(20, world)
      #expect(world.sender.troubles.isEmpty && world.server.accepted == Self.connections)
      world.server.onRequest = ScriptedServer.answer
      let accepted = world.sender.accepted
      world.sender.send(400)
      #expect(await world.untilAccepted(accepted + 400))
    }
  }

  @Test("is none when some of its requests wait in vain and those behind them are answered")
  func isOvertaken() async throws {
    let silences = 16
    try await TestWorld.run({
      Self.several(&$0)
      $0.streamsMax = 50
      $0.requestTimeoutMs = 1_000
    }) { lane, world in
      var isSilent = false
      let taken = await Self.prepare(world) { connection, request in
        isSilent.toggle()
        if !isSilent { ScriptedServer.answer(connection, request) }
      }
      while taken.list.count < 2 * silences, world.sender.finished < 2_000 {
        world.sender.send(1)
        await lane.loop.sleep(ms: 5)
      }
      while world.sender.count(.unknown) < silences, world.sender.finished < 2_000 {
        await Self.sendInTurn(1, world)
        await lane.loop.sleep(ms: 1)
      }
      #expect(world.sender.count(.unknown) >= silences)
      #expect(world.sender.troubles.isEmpty && world.server.accepted == Self.connections)
    }
  }

  @Test("is avoided when it has died amid the answers to what was sent together")
  func diesAmidAnswers() async throws {
    try await TestWorld.run({
      Self.several(&$0)
      $0.requestTimeoutMs = 300
    }) { lane, world in
      var hasAnswered = false
      let taken = await Self.prepare(world) { connection, request in
        if !hasAnswered { ScriptedServer.answer(connection, request) }
        hasAnswered = true
      }
      let finished = world.sender.finished
      world.sender.send(10)
      #expect(await world.untilFinished(finished + 10))
      let lost = taken.list.count
      #expect(lost > 2)
      // It answers the PING that follows a time-out.
      await lane.loop.sleep(ms: 50)
      world.sender.send(10)
      #expect(await world.untilFinished(finished + 20))
      #expect(taken.list.count <= lost + 2)
    }
  }

  @Test("is replaced also where all are bad, if all requests are malformed", arguments: [1, 4])
  func allReset(connections: Int) async throws {
    try await TestWorld.run({
      Self.several(&$0)
      $0.connectionsMax = connections
    }) { lane, world in
      world.sender.sign = { $0 == .yes ? .good : .trouble }
      world.sender.send(HTTP2Limits.waitingForOneMax + 1)
      #expect(await world.untilAccepted(HTTP2Limits.waitingForOneMax + 1))
      #expect(await world.until { world.pool.readyConnections == connections })
      let bad = Set(world.server.connections.map(\.id))
      world.server.onRequest = { connection, request in
        guard bad.contains(connection.id) else { return ScriptedServer.answer(connection, request) }
        connection.reset(request, errorCode: ErrorCode.protocolError)
      }
      let accepted = world.sender.accepted
      while world.sender.accepted < accepted + 100, world.sender.finished < 5_000 {
        await Self.sendInTurn(1, world)
        await lane.loop.sleep(ms: 1)
      }
      #expect(world.sender.accepted == accepted + 100)
      #expect(world.server.accepted > connections)
    }
  }

  @Test("has another one opened to compare with where it was the only one")
  func isAlone() async throws {
    try await TestWorld.run(Self.several) { lane, world in
      world.sender.sign = { $0.status == 200 ? .good : .trouble }
      world.server.onRequest = { connection, request in
        connection.respond(request, status: connection.id == 1 ? 503 : 200, headers: [])
      }
      while world.sender.accepted == 0, world.sender.finished < 100 {
        await Self.sendInTurn(1, world)
        await lane.loop.sleep(ms: 5)
      }
      #expect(world.sender.accepted == 1 && world.server.accepted == 2)
    }
  }
}
