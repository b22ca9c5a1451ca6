import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

@Suite("Losing an HTTP/2 connection")
struct ConnectionLossTests {
  @Test(
    "by GOAWAY: what is above its last stream was not sent, the rest is answered, another opens")
  func goAway() async throws {
    try await TestWorld.run { lane, world in
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(10)
      #expect(await world.until { held.list.count == 10 })
      let first = world.server.connections[0]
      let requests = held.list
      first.goAway(lastStreamID: requests[5].streamID, debugData: "{\"reason\":\"Shutdown\"}")
      #expect(await world.untilFinished(4))
      #expect(world.sender.count(.notSent) == 4)
      for request in requests[...5] { ScriptedServer.answer(first, request) }
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      #expect(world.sender.count(.yes) == 6)
      #expect(
        world.sender.connectionEnds
          == [.goAway(errorCode: 0, debugData: "{\"reason\":\"Shutdown\"}")])
      world.server.onRequest = ScriptedServer.answer
      world.sender.send(10)
      #expect(await world.untilFinished(20))
      #expect(world.sender.count(.yes) == 16)
      #expect(world.server.accepted == 2)
    }
  }

  @Test(
    "by GOAWAY of a server that took many requests and has yet to answer the first is made good at once"
  )
  func goAwayBeforeAnswers() async throws {
    try await TestWorld.run({
      // Whoever waits for it waits for longer than any test.
      $0.reconnectMsMin = 3_600_000
      $0.reconnectMsMax = 3_600_000
    }) { lane, world in
      let many = 150
      world.server.settings.maxConcurrentStreams = 1_000
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(many)
      #expect(await world.until { held.list.count == many })
      let first = world.server.connections[0]
      world.server.onRequest = ScriptedServer.answer
      first.goAway(lastStreamID: held.list.map(\.streamID).max())
      // Those that leave before it has come are above its last stream.
      world.resendUnsent()
      world.sender.send(10)
      #expect(await world.untilAccepted(10))
      #expect(world.server.accepted == 2)
      for request in held.list { ScriptedServer.answer(first, request) }
      #expect(await world.untilAccepted(many + 10))
      #expect(world.sender.count(.yes) == many + 10)
    }
  }

  @Test(
    "by GOAWAY while its last answer takes long keeps no place from the next, for many in a row")
  func goAwayWithLateAnswers() async throws {
    try await TestWorld.run({ $0.reconnectMsMax = $0.reconnectMsMin }) { lane, world in
      let many = 20
      let held = Requests()
      world.server.onRequest = { connection, request in
        held.list.append(request)
        connection.goAway(lastStreamID: request.streamID)
      }
      world.resendUnsent()
      for number in 1...many {
        world.sender.send(1)
        #expect(await world.until { held.list.count == number })
      }
      #expect(world.server.connections.count == many && world.sender.count(.yes) == 0)
    }
  }

  @Test("by GOAWAY while requests wait for room loses none of them")
  func goAwayUnderLoad() async throws {
    try await TestWorld.run { lane, world in
      world.server.settings.maxConcurrentStreams = 20
      // Not what the server received: how many headers come before the first body is up to chance.
      var answered = 0
      world.server.onRequest = { connection, request in
        ScriptedServer.answer(connection, request)
        answered += 1
        if answered % 500 == 0 { connection.goAway() }
      }
      world.resendUnsent()
      world.sender.send(3_000)
      #expect(await world.untilAccepted(3_000))
      #expect(world.sender.count(.yes) == 3_000)
      #expect(world.sender.count(.unknown) == 0)
      #expect(world.sender.endedOnce.count == world.sender.submitted)
      #expect(world.server.accepted >= 6)
    }
  }

  @Test(
    "again and again has as many requests spread over more connections: a loss takes fewer with it")
  func spreadsOut() async throws {
    try await TestWorld.run(over: .native, { $0.streamsMax = 400 }) { lane, world in
      let held = Requests()
      world.server.settings.maxConcurrentStreams = 1_000
      world.server.onRequest = { _, request in held.list.append(request) }
      for lost in [400, 400, 200] {
        let (before, finished) = (world.sender.count(.unknown), world.sender.finished)
        let waiting = world.sender.submitted - finished
        world.sender.send(400 - waiting)
        #expect(await world.until { world.transport.inFlight == 400 && held.list.count == 400 })
        held.list.removeAll()
        let connection = world.server.connections[0]
        connection.abort()
        #expect(await world.untilFinished(finished + lost))
        #expect(world.sender.count(.unknown) - before == lost)
      }
    }
  }

  @Test("by a TCP abort: what was written is unknown, what was not was not sent")
  func abort() async throws {
    try await TestWorld.run { lane, world in
      world.server.settings.maxConcurrentStreams = 1_000
      // The server reads the first and then hangs, until the sockets between are full.
      world.server.onHeaders = { connection, _ in connection.stallReads(true) }
      world.server.onRequest = { _, _ in }
      world.sender.pieces = [StableBytes([UInt8](repeating: 97, count: 40_000))]
      world.sender.path = { Array("/\($0)/\(String(repeating: "p", count: 8_000))".utf8) }
      world.sender.send(1_000)
      #expect(await world.until { world.server.received > 0 })
      await lane.loop.sleep(ms: 50)
      world.server.connections[0].abort()
      #expect(await world.untilFinished(1_000))
      #expect(world.sender.endedOnce.count == 1_000)
      #expect(world.sender.count(.unknown) > 0)
      #expect(world.sender.count(.notSent) > 0)
      #expect(world.sender.count(.unknown) + world.sender.count(.notSent) == 1_000)
      // What the server saw is never among those that were surely not sent.
      #expect(world.sender.endedOnce[0] == .unknown)
      guard case .failed = world.sender.connectionEnds.first else {
        Issue.record("ended by \(world.sender.connectionEnds)")
        return
      }
    }
  }

  @Test("that is idle and half open is found by a PING, and a new one serves")
  func halfOpen() async throws {
    try await TestWorld.run({
      $0.pingAfterMs = 100
      $0.pingTimeoutMs = 1_000
    }) { lane, world in
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      world.server.connections[0].stallReads(true)
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      #expect(world.sender.connectionEnds == [.silent])
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(world.sender.count(.yes) == 2)
    }
  }

  @Test("that went dead under requests costs each of them one time limit, and no other request")
  func deadUnderLoad() async throws {
    try await TestWorld.run({
      $0.requestTimeoutMs = 1_000
      $0.pingTimeoutMs = 1_000
      $0.streamsMax = 10
    }) { lane, world in
      world.server.onHeaders = { connection, _ in
        if world.server.accepted == 1 { connection.stallReads(true) }
      }
      world.server.onRequest = { connection, request in
        if world.server.accepted > 1 { ScriptedServer.answer(connection, request) }
      }
      world.sender.send(40)
      #expect(await world.untilFinished(40))
      #expect(world.sender.connectionEnds == [.silent])
      // Those of the first fill ran into the time limit; nothing was sent after them on that connection.
      #expect(world.sender.count(.unknown) + world.sender.count(.notSent) == 10)
      #expect(world.sender.count(.yes) == 30)
    }
  }

  @Test("is not taken for granted when requests time out: what answers a PING is used again")
  func slowButAlive() async throws {
    try await TestWorld.run({
      $0.requestTimeoutMs = 1_000
      $0.pingTimeoutMs = 20_000
    }) { lane, world in
      world.server.onRequest = { connection, request in
        if world.server.received > 5 { ScriptedServer.answer(connection, request) }
      }
      world.sender.send(5)
      #expect(await world.untilFinished(5))
      #expect(world.sender.count(.unknown) == 5)
      world.sender.send(5)
      #expect(await world.untilFinished(10))
      #expect(world.sender.count(.yes) == 5)
      #expect(world.sender.connectionEnds.isEmpty)
      #expect(world.server.accepted == 1)
    }
  }

  @Test("does not happen to an idle one whose peer answers the PINGs")
  func pingAnswered() async throws {
    try await TestWorld.run({
      $0.pingAfterMs = 5
      $0.pingTimeoutMs = 10_000
    }) { lane, world in
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      await lane.loop.sleep(ms: 100)
      #expect(world.sender.connectionEnds.isEmpty)
      #expect(world.server.accepted == 1)
    }
  }

  @Test("again and again soon after each answer is not met by rapid reconnecting either")
  func shortLived() async throws {
    try await TestWorld.run({ $0.reconnectMsMin = 60 }) { lane, world in
      world.server.onRequest = { connection, request in
        ScriptedServer.answer(connection, request)
        connection.goAway()
      }
      world.sender.onFinish = { _, _ in world.sender.send(1) }
      world.sender.send(1)
      let startNs = lane.loop.nowNs
      #expect(await world.until { world.server.accepted >= 4 })
      // Three pauses of 30 ms at least.
      #expect(lane.loop.nowNs - startNs >= 90_000_000)
    }
  }

  @Test(
    "after so many requests happens three times: then each stops there by itself, and nothing is lost"
  )
  func stopsInTime() async throws {
    try await TestWorld.run({ $0.streamsMax = 10 }) { lane, world in
      var received: [Int: Int] = [:]
      world.server.onRequest = { connection, request in
        received[Int(connection.id), default: 0] += 1
        guard received[Int(connection.id)]! <= 200 else { return connection.abort() }
        ScriptedServer.answer(connection, request)
      }
      world.resendUnsent()
      world.sender.send(3_000)
      #expect(
        await world.until { world.sender.count(.yes) + world.sender.count(.unknown) == 3_000 })
      #expect((1...30).contains(world.sender.count(.unknown)), "\(world.sender.count(.unknown))")
      #expect((15...30).contains(world.server.accepted), "\(world.server.accepted) connections")
    }
  }

  @Test("by what is not HTTP/2 ends it as a violation")
  func violation() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let impostor = try Impostor(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["h2"]))
      var settings = ClientSettings(
        endpoint: .tcp(host: "127.0.0.1", port: impostor.port),
        tls: try certificates.clientContext(alpn: ["h2"]))
      settings.connectionsMax = 1
      let sender = try TestSender(loop: lane.loop, settings: settings, occurrences: occurrences)
      sender.send(1)
      #expect(await occurrences.until { !sender.connectionEnds.isEmpty })
      guard case .protocolViolation(let reason) = sender.connectionEnds[0] else {
        Issue.record("ended by \(sender.connectionEnds)")
        return
      }
      #expect(reason.contains("does not support HTTP/2"))
      sender.pool.close()
      impostor.close()
    }
  }
}

/// Agrees to speak HTTP/2 and speaks something else.
private final class Impostor: ByteStreamDelegate {
  private var listener: Listener!
  private var streams: [ByteStream] = []

  init(loop: EventLoop, tls: TLSContext) throws {
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      let stream = ByteStream(loop: loop, delegate: self)
      streams.append(stream)
      stream.adopt(descriptor: descriptor, tls: tls)
    }
  }

  var port: UInt16 { listener.port }

  func close() {
    listener.close()
    for stream in streams { stream.close() }
  }

  func streamDidOpen(_ stream: ByteStream) {
    _ = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { stream.write($0) }
    stream.requestFlush()
  }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {}
  func streamFillsOutput(_ stream: ByteStream) {}
  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {}
}
