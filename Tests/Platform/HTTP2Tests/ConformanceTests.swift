import HTTP2Server
import HTTP2
import Reactor
import Testing
import TestSupport

/// What the transports do alike. Where libcurl cannot tell as much as the worker's own, a test says which
/// weaker ending it may give: `unknown` in place of `notSent`, never the other way round.
@Suite("Every transport") struct ConformanceTests {
  @Test(
    "delivers method, path, headers and body as they were given", arguments: TransportKind.allCases)
  func request(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      let seen = Texts()
      world.server.onRequest = { connection, request in
        var fields: [String] = []
        request.forEachHeader { name, value in
          let name = String(decoding: name, as: UTF8.self)
          // libcurl adds the length, which a server need not be told.
          if name != "content-length" {
            fields.append("\(name): \(String(decoding: value, as: UTF8.self))")
          }
        }
        seen.list += fields.sorted()
        seen.list.append(request.withBody { String(decoding: $0, as: UTF8.self) })
        ScriptedServer.answer(connection, request)
      }
      world.sender.head = RequestHead(
        authority: "push.example:2197", path: nil,
        headers: [("apns-topic", "com.example"), ("apns-priority", "10"), ("authorization", "b t")])
      world.sender.path = { _ in Array("/3/device/abc?x=%20".utf8) }
      world.sender.pieces = ["{\"aps\":", String(repeating: "x", count: 20_000), "}"].map {
        StableBytes(Array($0.utf8))
      }
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      #expect(world.sender.endedOnce == [.yes])
      #expect(
        seen.list == [
          ":authority: push.example:2197", ":method: POST", ":path: /3/device/abc?x=%20",
          ":scheme: https", "apns-priority: 10", "apns-topic: com.example", "authorization: b t",
          "{\"aps\":" + String(repeating: "x", count: 20_000) + "}",
        ])
    }
  }

  @Test("sends to one path where the head has it", arguments: TransportKind.allCases)
  func fixedPath(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      let paths = Texts()
      world.server.onRequest = { connection, request in
        paths.list.append(request.withPath { String(decoding: $0, as: UTF8.self) })
        ScriptedServer.answer(connection, request)
      }
      world.sender.head = RequestHead(
        authority: "localhost", path: Array("/v1/projects/p/messages:send".utf8),
        headers: [("content-type", "application/json")])
      world.resendUnsent()
      world.sender.send(2)
      #expect(await world.untilAccepted(2))
      #expect(paths.list == Array(repeating: "/v1/projects/p/messages:send", count: 2))
    }
  }

  @Test("ends 900 requests over two connections once each", arguments: TransportKind.allCases)
  func many(kind: TransportKind) async throws {
    try await TestWorld.run(
      over: kind,
      {
        $0.connectionsMax = 2
        $0.streamsMax = 50
      }
    ) { lane, world in
      world.resendUnsent()
      world.sender.send(900)
      #expect(await world.untilAccepted(900))
      #expect(world.sender.count(.yes) == 900)
      #expect(world.server.received == 900)
      // On a machine that is slow to connect libcurl may begin a connection anew.
      #expect(world.server.accepted <= (kind == .curl ? 8 : 2))
      #expect(world.server.openStreamsMax <= 50)
      #expect(world.server.violations.isEmpty)
      #expect(world.transport.inFlight == 0)
      // One may still be shaking hands when the other has carried all.
      #expect(
        await world.until { world.transport.readyConnections == min(2, world.server.accepted) })
    }
  }

  @Test(
    "learns status, Retry-After and the bounded body of an answer other than 200",
    arguments: TransportKind.allCases)
  func answers(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      world.server.onRequest = { connection, request in
        let number = request.withPath { Int(String(decoding: $0.dropFirst(), as: UTF8.self))! }
        let date = ("date", "Fri, 31 Dec 1999 23:58:00 GMT")
        let headers = [
          [("retry-after", "120")], [("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")],
          [("retry-after", "99999999999999")], [("apns-id", "x"), ("x-rate-limit-reset", "5")],
          [date, ("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")],
          [("retry-after", "Friday, 31-Dec-99 23:59:59 GMT"), date],
          [("x-rate-limit-reset", "7")], [("retry-after", "3"), ("x-rate-limit-reset", "9")],
        ]
        connection.respond(
          request, status: number == 3 ? 410 : 429, headers: headers[number],
          body: number == 3
            ? [UInt8](repeating: 99, count: 30_000)
            : Array("{\"reason\":\"\(number)\"}".utf8)
              + [UInt8](repeating: 32, count: number == 4 ? 16_000 : 0))
      }
      world.sender.path = { Array("/\($0)".utf8) }
      world.sender.send(8)
      #expect(await world.untilFinished(8))
      let endings = world.sender.endedOnce
      #expect(endings.map(\.status) == [429, 429, 429, 410, 429, 429, 429, 429])
      // Without a Date header a date counts from our clock, which is 799 s before it here.
      #expect(endings.map(\.retryAfterSeconds) == [120, 799, 86_400, nil, 119, 119, 7, 3])
      #expect(endings[..<3].map(\.body) == (0..<3).map { "{\"reason\":\"\($0)\"}" })
      #expect(endings[4].body.utf8.count == 16_014)
      #expect(endings.map(\.isBodyCut) == (0..<8).map { $0 == 3 })
      #expect(endings[3].body.utf8.count == HTTP2Limits.answerBodyBytesMax)
    }
  }

  @Test("waits for a late answer, and no longer than allowed", arguments: TransportKind.allCases)
  func deadline(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind, { $0.requestTimeoutMs = 5_000 }) { lane, world in
      await world.warmUp()
      let held = Requests()
      world.server.onRequest = { connection, request in held.list.append(request) }
      world.sender.send(2)
      try #require(await world.until { held.list.count == 2 })
      await lane.loop.sleep(ms: 100)
      #expect(world.sender.finished == 1)
      let answered = held.list[1].withPath { String(decoding: $0, as: UTF8.self) }
      ScriptedServer.answer(world.server.connections[0], held.list[1])
      #expect(await world.untilFinished(3))
      let late = answered.hasSuffix("2") ? 2 : 1
      #expect(world.sender.endings[late] == [.yes])
      #expect(world.sender.endings[3 - late] == [.unknown])
      #expect(world.transport.inFlight == 0)
    }
  }

  @Test(
    "sends nothing twice when the connection is cut in mid-flight",
    arguments: TransportKind.allCases)
  func cut(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      let bodies = Texts()
      world.server.onRequest = { connection, request in
        bodies.list.append(request.withPath { String(decoding: $0, as: UTF8.self) })
        if bodies.list.count == 1 { return ScriptedServer.answer(connection, request) }
        if bodies.list.count == 10 { connection.abort() }
      }
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      world.sender.send(9)
      #expect(await world.untilFinished(10))
      #expect(world.sender.count(.yes) == 1)
      #expect(world.sender.count(.unknown) == 9)
      world.server.onRequest = { connection, request in
        bodies.list.append(request.withPath { String(decoding: $0, as: UTF8.self) })
        ScriptedServer.answer(connection, request)
      }
      world.resendUnsent()
      world.sender.send(10)
      #expect(await world.untilAccepted(11))
      #expect(world.sender.count(.yes) == 11)
      #expect(bodies.list.count == 20)
      #expect(Set(bodies.list).count == 20)
    }
  }

  @Test(
    "loses nothing to a GOAWAY, and sends nothing twice by itself",
    arguments: TransportKind.allCases)
  func goAway(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      await world.warmUp()
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(10)
      try #require(await world.until { held.list.count == 10 })
      let first = world.server.connections[0]
      let requests = held.list.sorted { $0.streamID < $1.streamID }
      first.goAway(lastStreamID: requests[5].streamID, debugData: "{\"reason\":\"Shutdown\"}")
      for request in requests[...5] { ScriptedServer.answer(first, request) }
      world.server.onRequest = ScriptedServer.answer
      #expect(await world.untilFinished(11))
      let unprocessed = world.sender.count(.notSent) + world.sender.count(.unknown)
      #expect(world.sender.count(.yes) + unprocessed == 11)
      switch kind {
      case .native, .proxied:
        #expect(world.sender.count(.yes) == 7)
        #expect(world.sender.count(.notSent) == 4)
      case .curl:
        // libcurl keeps the last stream to itself, so nobody knows; never "not sent".
        #expect(world.sender.count(.notSent) == 0)
        #expect(world.sender.count(.yes) <= 7)
      }
      #expect(world.server.received == 11)
      world.resendUnsent()
      world.sender.send(10)
      #expect(await world.untilAccepted(21 - unprocessed))
      #expect(world.server.received == 21)
      // libcurl opens one more, for what it would send again, and on a slow machine begins some anew.
      #expect(world.server.accepted <= (kind == .curl ? 8 : 2))
    }
  }

  @Test("does not take a refused stream for processed", arguments: TransportKind.allCases)
  func refused(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      world.server.onHeaders = { connection, request in
        connection.reset(request, errorCode: ErrorCode.refusedStream)
      }
      world.server.onRequest = { _, _ in }
      world.sender.send(5)
      #expect(await world.untilFinished(5))
      // libcurl would send it again by itself, and says no more about it than of a lost connection.
      let weaker = kind == .curl ? world.sender.count(.unknown) : 0
      #expect(world.sender.count(.notSent) + weaker == 5)
      #expect(world.server.received == 5)
      #expect(world.transport.inFlight == 0)
    }
  }

  @Test(
    "keeps an early answer that NO_ERROR follows; any other reset leaves nobody knowing",
    arguments: TransportKind.allCases)
  func resets(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      let early = Requests()
      world.server.onHeaders = { connection, request in
        connection.stallReads(true)
        connection.respond(request, status: 413, headers: [], body: Array("TooLarge".utf8))
        early.list.append(request)
      }
      world.sender.pieces = [StableBytes([UInt8](repeating: 98, count: 200_000))]
      world.sender.send(1)
      try #require(await world.until { early.list.count == 1 })
      await lane.loop.sleep(ms: 10)
      world.server.connections[0].reset(early.list[0], errorCode: ErrorCode.none)
      #expect(await world.untilFinished(1))
      #expect(
        world.sender.endedOnce == [.init(disposition: .answered, status: 413, body: "TooLarge")])
      world.server.connections[0].stallReads(false)
      world.server.onHeaders = { _, _ in }
      world.server.onRequest = { connection, request in
        connection.reset(request, errorCode: ErrorCode.internalError)
      }
      world.sender.pieces = [StableBytes([97])]
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(world.sender.endings[1] == [.unknown])
    }
  }

  @Test("follows the server's limit of streams", arguments: TransportKind.allCases)
  func streamLimit(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      world.server.settings.maxConcurrentStreams = 20
      await world.warmUp()
      let held = Requests()
      world.server.onRequest = { _, request in held.list.append(request) }
      world.sender.send(100)
      #expect(await world.until { held.list.count == 20 })
      await lane.loop.sleep(ms: 5)
      #expect(held.list.count == 20)
      world.server.connections[0].changeMaxConcurrentStreams(3)
      await lane.loop.sleep(ms: 20)
      world.resendUnsent()
      world.server.onRequest = { connection, request in
        #expect(connection.openStreams <= 3)
        ScriptedServer.answer(connection, request)
      }
      for request in held.list { ScriptedServer.answer(world.server.connections[0], request) }
      #expect(await world.untilAccepted(101))
      #expect(world.server.openStreamsMax == 20)
      #expect(world.server.violations.isEmpty)
      #expect(world.server.received == 101)
    }
  }

  @Test(
    "uses one stream until the first answer that is not 403, where the provider demands it",
    arguments: TransportKind.own)
  func oneUntilAuthorised(kind: TransportKind) async throws {
    try await TestWorld.run(
      over: kind,
      {
        $0.startsWithOneStream = true
        $0.connectionsMax = 2
        $0.streamsMax = 10
      }
    ) { lane, world in
      let answeredOn = Occupied()
      world.server.onRequest = { connection, request in
        if !answeredOn.ids.contains(connection.id) { #expect(connection.openStreams == 1) }
        answeredOn.count += 1
        guard answeredOn.count > 2 else {
          return connection.respond(request, status: 403, headers: [])
        }
        answeredOn.ids.insert(connection.id)
        ScriptedServer.answer(connection, request)
      }
      world.resendUnsent()
      world.sender.send(200)
      #expect(await world.untilAccepted(198))
      #expect(world.sender.count(.init(disposition: .answered, status: 403)) == 2)
      #expect(world.server.received == 200)
    }
  }

  @Test("sends nothing where nobody listens, and pauses", arguments: TransportKind.allCases)
  func unreachable(kind: TransportKind) async throws {
    try await TestWorld.run(
      over: kind,
      {
        $0.reconnectMsMin = 40
        $0.reconnectMsMax = 10_000
      }
    ) { lane, world in
      world.server.stopListening()
      world.sender.send(1)
      let startNs = lane.loop.nowNs
      #expect(await world.until { world.sender.connectionEnds.count >= 4 })
      #expect(lane.loop.nowNs - startNs >= 140_000_000)
      #expect(world.sender.submitted == 0)
      #expect(world.transport.readyConnections == 0)
    }
  }

  @Test(
    "sends nothing to a peer without a certificate for its name", arguments: TransportKind.allCases)
  func wrongCertificate(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind, { $0.serverName = "api.push.example" }) { lane, world in
      world.sender.send(1)
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      #expect(world.server.received == 0)
      #expect(world.sender.submitted == 0)
      #expect("\(world.sender.connectionEnds[0])".lowercased().contains("certificate"))
    }
  }

  @Test(
    "sends nothing to a peer whose authority is not trusted", arguments: TransportKind.allCases)
  func untrusted(kind: TransportKind) async throws {
    let others = try TestCertificates()
    try await TestWorld.run(
      over: kind, { $0.tls = try? others.clientContext(alpn: ["h2"]) }
    ) { lane, world in
      world.sender.send(1)
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      #expect(world.server.received == 0)
      #expect(world.sender.submitted == 0)
    }
  }

  @Test(
    "ends everything when it is closed, and says nothing more", arguments: TransportKind.allCases)
  func close(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind) { lane, world in
      await world.warmUp()
      world.server.onRequest = { _, _ in }
      world.sender.send(10)
      #expect(await world.until { world.server.received == 11 })
      world.transport.close()
      world.transport.close()
      #expect(await world.untilFinished(11))
      #expect(world.sender.count(.unknown) == 10)
      #expect(await world.until { world.server.connections.isEmpty })
    }
  }
}

/// Connections by what they have answered; loop-bound.
private final class Occupied {
  var ids: Set<UInt64> = []
  var count = 0
}
