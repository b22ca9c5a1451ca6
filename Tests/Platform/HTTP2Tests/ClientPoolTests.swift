import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("A pool of HTTP/2 connections")
struct ClientPoolTests {
  @Test("survives a provider that never answers: all expire, and it serves again (APNSwift#93)")
  func neverAnswers() async throws {
    try await TestWorld.run({
      $0.requestTimeoutMs = 1_000
      $0.pingTimeoutMs = 20_000
      $0.streamsMax = 50
    }) { lane, world in
      world.server.onRequest = { _, _ in }
      world.sender.send(150)
      #expect(await world.untilFinished(150))
      #expect(world.sender.count(.unknown) == 150)
      #expect(world.pool.inFlight == 0)
      world.server.onRequest = ScriptedServer.answer
      world.sender.send(150)
      #expect(await world.untilFinished(300))
      #expect(world.sender.count(.yes) == 150)
      #expect(world.server.accepted == 1)
      #expect(world.server.openStreamsMax <= 50)
    }
  }

  @Test("takes requests that were never written for not sent when their time is over")
  func expiresUnwritten() async throws {
    try await TestWorld.run({ $0.requestTimeoutMs = 100 }) { lane, world in
      world.server.onHeaders = { connection, _ in connection.stallReads(true) }
      world.server.onRequest = { _, _ in }
      world.sender.path = { Array("/\($0)/\(String(repeating: "p", count: 12_000))".utf8) }
      world.sender.send(1_000)
      #expect(await world.untilFinished(1_000))
      #expect(world.sender.endedOnce[0] == .unknown)
      #expect(world.sender.endedOnce[999] == .notSent)
      #expect(world.sender.endedOnce.count == 1_000)
    }
  }

  @Test("lets an answer that comes after the deadline change nothing")
  func lateAnswer() async throws {
    try await TestWorld.run({
      $0.requestTimeoutMs = 1_000
      $0.pingTimeoutMs = 20_000
      $0.streamsMax = 1
    }) { lane, world in
      let held = Requests()
      world.server.onRequest = { connection, request in
        held.list.append(request)
        // Answered in the turn after its reset was sent: the two cross.
        if held.list.count == 1 { connection.stallReads(true) }
      }
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      ScriptedServer.answer(world.server.connections[0], held.list[0])
      world.server.connections[0].stallReads(false)
      world.server.onRequest = ScriptedServer.answer
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(world.sender.endedOnce == [.unknown, .yes])
    }
  }

  @Test("closed twice ends every request once and opens nothing any more")
  func closeTwice() async throws {
    try await TestWorld.run { lane, world in
      world.server.onRequest = { _, _ in }
      world.sender.send(10)
      #expect(await world.until { world.server.received == 10 })
      world.pool.close()
      world.pool.close()
      #expect(world.sender.count(.unknown) == 10)
      world.sender.send(10)
      #expect(await world.until { world.server.closed == 1 })
      await lane.loop.sleep(ms: 20)
      #expect(world.server.accepted == 1)
      #expect(world.sender.submitted == 10)
    }
  }

  @Test("can be closed by the one who hears of an answer")
  func closeWithinCallback() async throws {
    try await TestWorld.run { lane, world in
      world.server.onRequest = { connection, request in
        guard world.server.received == 100 else { return }
        connection.goAway(lastStreamID: 1)
      }
      world.sender.onFinish = { _, _ in world.pool.close() }
      world.sender.send(100)
      #expect(await world.untilFinished(100))
      #expect(world.sender.endedOnce.count == 100)
      #expect(await world.until { world.server.closed == 1 })
    }
  }

  @Test("that rests does not replace a lost connection until it is woken")
  func rest() async throws {
    try await TestWorld.run { lane, world in
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      world.pool.rest()
      world.server.connections[0].close()
      #expect(await world.until { world.sender.connectionEnds == [.closedByPeer] })
      await lane.loop.sleep(ms: 30)
      #expect(world.server.accepted == 1)
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(world.server.accepted == 2)
    }
  }

  @Test("is let go of with its connections once closed")
  func isFreed() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      weak var pool: ClientPool?
      weak var serving: ServerConnection?
      let occurrences = Occurrences(loop: lane.loop)
      let server = try ScriptedServer(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["h2"]),
        occurrences: occurrences)
      let connections = WeakConnections()
      do {
        let settings = ClientSettings(
          endpoint: server.endpoint, tls: try certificates.clientContext(alpn: ["h2"]))
        let sender = try TestSender(loop: lane.loop, settings: settings, occurrences: occurrences)
        sender.onRoom = { connections.note($0) }
        pool = sender.pool
        sender.send(100)
        #expect(await occurrences.until { sender.finished == 100 })
        serving = server.connections.first
        #expect(serving != nil)
        sender.pool.close()
      }
      #expect(await occurrences.until { server.connections.isEmpty })
      await lane.loop.sleep(ms: 1)
      #expect(connections.seen > 0)
      #expect(connections.areFreed)
      #expect(pool == nil)
      #expect(serving == nil)
      server.close()
    }
  }

  @Test(
    "that is let go of without being closed ends its connections, and hears of nothing any more")
  func dropped() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try ScriptedServer(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["h2"]),
        occurrences: occurrences)
      let held = Requests()
      server.onRequest = { _, request in held.list.append(request) }
      let connections = WeakConnections()
      do {
        let settings = ClientSettings(
          endpoint: server.endpoint, tls: try certificates.clientContext(alpn: ["h2"]))
        let sender = try TestSender(loop: lane.loop, settings: settings, occurrences: occurrences)
        sender.onRoom = { connections.note($0) }
        sender.send(1)
        #expect(await occurrences.until { held.list.count == 1 })
      }
      #expect(await occurrences.until { server.connections.isEmpty })
      await lane.loop.sleep(ms: 1)
      #expect(connections.seen > 0)
      #expect(connections.areFreed)
      server.close()
    }
  }

  @Test("that is closed while it asks for requests takes none, and ends none")
  func closedWhileAsking() async throws {
    try await TestWorld.run { lane, world in
      let wasAsked = Flag(false)
      world.sender.onRoom = { [unowned world] _ in
        world.pool.close()
        wasAsked.isSet = true
        world.occurrences.note()
      }
      world.sender.send(3)
      #expect(await world.until { wasAsked.isSet })
      #expect(world.sender.submitted == 0)
      #expect(world.sender.finished == 0)
      #expect(await world.until { world.server.connections.isEmpty })
    }
  }
}

/// The connections that asked for requests, without keeping them.
private final class WeakConnections {
  private struct Entry { weak var connection: AnyObject? }
  private var entries: [Entry] = []
  var seen: Int { entries.count }
  var areFreed: Bool { entries.allSatisfy { $0.connection == nil } }
  func note(_ connection: any RequestTaker) { entries.append(Entry(connection: connection)) }
}
