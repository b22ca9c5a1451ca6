import Glibc
import LocalServices
import Testing

@testable import Server

/// How a server ends.
@Suite struct StopTests {
  /// Sends half a request, and returns once the server waits for the other half.
  private static func sendHalf(_ connection: RawConnection) async {
    connection.send(
      "POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    _ = await connection.text(until: "100 Continue\r\n\r\n")
    connection.send("{")
  }

  /// Waits until nobody listens any more.
  private static func untilRefused(_ port: UInt16) async throws {
    let deadline = ContinuousClock.now + .milliseconds(RunningServer.timeoutMs)
    while (try? RawConnection(port: port)) != nil {
      try #require(ContinuousClock.now < deadline, "it still takes connections")
    }
  }

  @Test("a request in hand is finished, idle connections are closed, and the program ends well")
  func finishes() async throws {
    try await RunningServer.with { server, _ in
      let idle = try server.connect()
      idle.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try await idle.answer().status == 200)
      let busy = try server.connect()
      busy.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try await busy.answer().status == 200)
      await Self.sendHalf(busy)
      server.child.signal(SIGTERM)
      try await Self.untilRefused(server.port)
      #expect(await idle.rest().isClosed)
      #expect(server.child.exit == nil)
      busy.send("}")
      let answer = await busy.rest()
      #expect(answer.isClosed && answer.statuses.count == 1, "\(answer.text)")
      #expect(answer.text.contains("connection: close"))
      #expect(await server.child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("an answer that a client is slow to read comes whole")
  func slowReader() async throws {
    try await RunningServer.with { server, redis in
      let slow = try server.connect(window: LargeAnswer.window)
      slow.send(LargeAnswer.request(key: try await RunningServer.key(role: "server", redis)))
      var answer = try await LargeAnswer(from: slow)
      // The server has written its end by now, and the system has not taken it.
      server.child.signal(SIGTERM)
      try await Self.untilRefused(server.port)
      await answer.takeRest(from: slow)
      #expect(answer.isWhole, "\(answer.count) of \(answer.length) bytes")
      #expect(await server.child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("a request that never ends keeps nobody from ending")
  func isBounded() async throws {
    try await RunningServer.with { server, redis in
      // A client that takes nothing more of its answer, for which a server has more patience otherwise.
      let stuck = try server.connect(window: LargeAnswer.window)
      stuck.send(LargeAnswer.request(key: try await RunningServer.key(role: "server", redis)))
      _ = try await LargeAnswer(from: stuck)
      let start = ContinuousClock.now
      server.child.signal(SIGTERM)
      #expect(await server.child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
      #expect(ContinuousClock.now - start < .seconds(ServerLimits.stuckSeconds - 10))
    }
  }

  @Test("connections stay open until each is closed by its last answer, for two seconds at most")
  func drains() async {
    for (open, closesAfter, expected) in [(0, 0, 0), (1, 3, 3), (2, .max, 40)] {
      let state = ServingState()
      state.figures.connections(changedBy: open)
      var looks = 0
      await state.drain {
        looks += 1
        if looks == closesAfter { state.figures.connections(changedBy: -open) }
      }
      #expect(looks == expected)
    }
  }

  @Test("a second signal waits for nobody")
  func twice() async throws {
    try await RunningServer.with { server, _ in
      let busy = try server.connect()
      await Self.sendHalf(busy)
      server.child.signal(SIGTERM)
      let line = await server.child.standardError?.nextLine(
        containing: "stopping", timeoutMs: RunningServer.timeoutMs)
      #expect(line != nil)
      server.child.signal(SIGTERM)
      #expect(
        await server.child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(128 + SIGTERM))
    }
  }

  @Test("a stream of events ends as it should")
  func streams() async throws {
    try await RunningServer.with { server, redis in
      let key = try await RunningServer.key(role: "operator-look", redis)
      let stream = try server.connect()
      stream.send(
        "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
      let begun = await stream.text(until: "event: ")
      #expect(begun.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(begun)")
      #expect(begun.contains("content-type: text/event-stream"))
      server.child.signal(SIGTERM)
      let rest = await stream.rest()
      // The last chunk, so that a client knows that nothing is missing.
      #expect(rest.isClosed && rest.text.hasSuffix("0\r\n\r\n"), "\(rest.text)")
      #expect(await server.child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("a client that goes ends its stream")
  func clientGoes() async throws {
    try await RunningServer.with(hasMetrics: true) { server, redis in
      let key = try await RunningServer.key(role: "operator-look", redis)
      func streams(are count: Int) async throws {
        let deadline = ContinuousClock.now + .milliseconds(RunningServer.timeoutMs)
        let wish = "\npushpool_server_event_streams \(count)\n"
        while !(try await server.get("/metrics", port: server.metricsPort).body.contains(wish)) {
          try #require(ContinuousClock.now < deadline, "there are not \(count) streams")
        }
      }
      try await streams(are: 0)
      do {
        let stream = try server.connect()
        stream.send(
          "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
        _ = await stream.text(until: "event: ")
        try await streams(are: 1)
        stream.endInput()
      }
      try await streams(are: 0)
    }
  }
}
