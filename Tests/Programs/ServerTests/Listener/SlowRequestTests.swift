import Reactor
import TestSupport
import Testing

@testable import Server

/// Clients that are slow on purpose hold nothing for long.
@Suite struct SlowRequestTests {
  /// Much less than the server's patience with idle connections, and long enough for a busy machine.
  private static let soonSeconds = 45.0

  private static func seconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .seconds(1)
  }

  @Test("a connection that never sends is closed, and one that sends half a head is told why")
  func head() async throws {
    try await RunningServer.with { server, _ in
      let start = ContinuousClock.now
      let silent = try server.connect()
      let half = try server.connect()
      half.send("GET /healthz HTTP/1.1\r\nHost: a\r\n")
      let byteByByte = try server.connect()
      async let nothing = silent.rest()
      async let answer = half.rest()
      // Each wait for an answer is the pause before the next byte.
      var received = RawConnection.Received()
      for byte in Array("GET /healthz?\(String(repeating: "x", count: 4_000))".utf8) {
        byteByByte.send([byte])
        received = await byteByByte.rest(withinMs: 200)
        if received.isClosed || !received.bytes.isEmpty { break }
      }
      #expect(received.statuses == [408], "\(received.text)")
      #expect(await nothing.isClosed)
      #expect(await nothing.bytes.isEmpty)
      #expect(await answer.statuses == [408])
      #expect(await answer.isClosed)
      #expect((9...Self.soonSeconds).contains(Self.seconds(since: start)))
      #expect(try await server.get("/healthz").status == 200)
    }
  }

  @Test("half a head behind an answer is not waited for either")
  func nextHead() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try await connection.answer().status == 200)
      let start = ContinuousClock.now
      connection.send("GET /healthz HT")
      let received = await connection.rest()
      #expect(received.isClosed && received.statuses == [408])
      #expect((9...Self.soonSeconds).contains(Self.seconds(since: start)))
    }
  }

  @Test("a body that comes too slowly ends with 408, and one that is cut short with 400")
  func body() async throws {
    try await RunningServer.with { server, _ in
      let head = "POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n"
      let start = ContinuousClock.now
      let slow = try server.connect()
      slow.send(head + "{\"key\":")
      let cut = try server.connect()
      cut.send(head + "{\"key\":")
      cut.endInput()
      let ended = await cut.rest()
      #expect(ended.isClosed && ended.statuses == [400], "\(ended.text)")
      #expect(ended.text.contains("ended before it was whole"))
      let received = await slow.rest()
      #expect(received.isClosed && received.statuses == [408], "\(received.text)")
      #expect((9...Self.soonSeconds).contains(Self.seconds(since: start)))
    }
  }

  @Test("a client that reads slowly gets an answer whole, however long it takes")
  func reading() async throws {
    let lane = try TestLane()
    try await RunningServer.with { server, redis in
      let slow = try server.connect(window: LargeAnswer.window)
      slow.send(LargeAnswer.request(key: try await RunningServer.key(role: "server", redis)))
      var answer = try await LargeAnswer(from: slow)
      let start = ContinuousClock.now
      // Past the server's patience, both with clients that take nothing and with idle connections.
      while Self.seconds(since: start)
        < Double(max(ServerLimits.stuckSeconds, ServerLimits.idleSeconds) + 5)
      {
        await answer.takePart(bytesMax: 16_384, from: slow)
        // The client's pace: less a second than the server would wait for.
        await lane.run { lane in await lane.loop.sleep(ms: 1_000) }
      }
      #expect(!answer.isWhole)
      await answer.takeRest(from: slow)
      #expect(answer.isWhole, "\(answer.count) of \(answer.length) bytes")
    }
  }

  @Test("a body that is too large is refused before it comes")
  func large() async throws {
    try await RunningServer.with { server, _ in
      for fields in ["Content-Length: 100000", "Content-Length: 100000\r\nExpect: 100-continue"] {
        let connection = try server.connect()
        connection.send("POST /v1/session HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
        let received = await connection.rest()
        #expect(received.isClosed && received.statuses == [413], "\(received.text)")
      }
      // Without a length, as soon as there is too much of it.
      let chunked = try server.connect()
      let chunk = "1000\r\n\(String(repeating: "x", count: 4_096))\r\n"
      chunked.send(
        "POST /v1/session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
          + String(repeating: chunk, count: 4))
      let received = await chunked.rest()
      #expect(received.isClosed && received.statuses == [413], "\(received.text)")
      // Where none is taken at all.
      let none = try await server.ask("GET /healthz HTTP/1.1", body: "x")
      #expect(none.status == 400)
      let some = String(repeating: "x", count: 1_000)
      #expect(try await server.ask("GET /healthz HTTP/1.1", body: some).status == 413)
      // As libraries send it.
      #expect(try await server.ask("GET /healthz HTTP/1.1", body: "{ }\n").status == 200)
    }
  }

  @Test("bodies that are announced and not sent take no room from others")
  func announced() async throws {
    try await RunningServer.with(hasMetrics: true) { server, redis in
      let key = try await RunningServer.key(role: "server", redis)
      let head = "POST /v1/apps/shop/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
      func announce() async throws -> RawConnection {
        let connection = try server.connect()
        connection.send(
          head + "Content-Length: \(ServerLimits.jobBytesMax)\r\nExpect: 100-continue\r\n\r\n")
        let answer = await connection.text(until: "\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n"), "\(answer)")
        return connection
      }
      var announcers: [RawConnection] = []
      // One more than there is room for.
      for _ in 0...(ServerLimits.bodiesBytesMax / ServerLimits.jobBytesMax) {
        announcers.append(try await announce())
      }
      let job = #"{"audience": {"users": ["a"]}, "notification": {"body": "x"}}"#
      let sender = try server.connect()
      sender.send(head + "Content-Length: \(job.utf8.count)\r\n\r\n" + job)
      let accepted = try await sender.answer()
      #expect(accepted.status == 202, "\(accepted.body)")
      // What does come counts, until its sender is found to be too slow.
      let deadline = ContinuousClock.now + .milliseconds(RunningServer.timeoutMs)
      var metrics = ""
      repeat {
        try #require(ContinuousClock.now < deadline, "bytes that came are not counted")
        let sender = try await announce()
        sender.send([UInt8](repeating: 0x20, count: 1_000))
        announcers.append(sender)
        metrics = try await server.get("/metrics", port: server.metricsPort).body
      } while metrics.contains("\npushpool_server_body_bytes 0\n")
      #expect(metrics.contains("\npushpool_server_body_bytes "))
    }
  }

  @Test("a client that asks first is told to send its body")
  func expectation() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      connection.send(
        "POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      let interim = await connection.text(until: "\r\n\r\n")
      #expect(interim.hasPrefix("HTTP/1.1 100 Continue\r\n"), "\(interim)")
      connection.send("{}")
      #expect((400...499).contains(try await connection.answer().status))
      // Whoever may not send it is told that, and not to send.
      let refused = try server.connect()
      refused.send(
        "POST /v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      let answer = await refused.rest()
      #expect(answer.isClosed && answer.statuses == [401], "\(answer.text)")
    }
  }
}
