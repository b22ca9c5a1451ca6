import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

@Suite struct ReconnectTests {
  @Test func `a killed server fails what is pending, and nothing of it is sent again`() async throws
  {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await TestLane.withRedis(options) { lane, server in
      let connection = try await lane.connect(server.endpoint)
      await server.freeze()
      let log = Log()
      for _ in 0..<100 { connection.send(RedisCommand("INCR", "n")) { log.note($0) } }
      let lost = Signal()
      connection.onLost = { _ in lost.raise() }
      await server.kill9()
      await lost.wait()
      #expect(log.count == 100)
      #expect(log.failures.count == 100)
      #expect(throws: RedisError.self) { try Self.sendNow(connection).get() }

      try await server.restart()
      try await connection.waitUntilReady(timeoutMs: 30_000)
      // Bytes that were in the socket when the server died were executed by nobody.
      #expect(try await connection.call(RedisCommand("GET", "n")).isNull)
      #expect(try await connection.call(RedisCommand("ECHO", "mine")).string == "mine")
      connection.close()
    }
  }

  /// The immediate result of a command while there is no connection.
  private static func sendNow(_ connection: RedisConnection) -> Result<Void, RedisError> {
    var now: Result<Void, RedisError> = .success(())
    connection.send(RedisCommand("PING")) { now = $0.map { _ in } }
    return now
  }

  @Test func `a late reply after a time-out answers no later command`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, patienceMs: 0)
      await server.freeze()
      let log = Log()
      let lost = Signal()
      connection.onLost = { _ in lost.raise() }
      connection.send(RedisCommand("ECHO", "old"), timeoutMs: 50) { log.note($0) }
      connection.send(RedisCommand("ECHO", "behind")) { log.note($0) }
      await lost.wait()
      #expect(log.failures.first == .timeout)
      #expect(log.failures.count == 2)
      if case .connectionLost = log.failures[1] {} else { Issue.record("\(log.failures[1])") }
      connection.onLost = nil
      await server.thaw()
      try await connection.waitUntilReady(timeoutMs: 30_000)
      for index in 0..<50 {
        let reply = try await connection.call(RedisCommand("ECHO", "new\(index)"))
        #expect(reply.string == "new\(index)")
      }
      #expect(log.count == 2)
      connection.close()
    }
  }

  @Test func `the number of pending commands is bounded`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      await server.freeze()
      let log = Log()
      let extra = 10
      for _ in 0..<(RedisLimits.pendingCommandsMax + extra) {
        connection.send(RedisCommand("PING"), timeoutMs: nil) { log.note($0) }
      }
      #expect(log.failures == Array(repeating: .tooManyPending, count: extra))
      await server.thaw()
      connection.close()
      #expect(log.count == RedisLimits.pendingCommandsMax + extra)
    }
  }

  @Test func `a server that does not speak RESP is left`() async throws {
    try await TestLane.run { lane in
      var accepted: [TestStream] = []
      let listener = try Listener(loop: lane.loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
        let stream = TestStream(loop: lane.loop)
        stream.stream.adopt(descriptor: $0, tls: nil)
        stream.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        accepted.append(stream)
      }
      let connection = try RedisConnection(
        loop: lane.loop,
        endpoint: RedisEndpoint(endpoint: .tcp(host: "127.0.0.1", port: listener.port)))
      let lost = await lane.firstLoss(of: connection)
      if case .protocolViolation = lost {} else { Issue.record("\(lost)") }
      connection.close()
      for stream in accepted { stream.stream.close() }
      listener.close()
    }
  }

  @Test func `a server that became a replica is left and looked for again`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      let lost = Signal()
      connection.onLost = { _ in lost.raise() }
      _ = try await connection.call(RedisCommand("REPLICAOF", "127.0.0.1", "1"))
      let error = await failure {
        _ = try await connection.call(RedisCommand("SET", "k", "v"))
      }
      #expect(error?.isTemporary == true)
      await lost.wait()
      connection.onLost = nil
      connection.close()
    }
  }

  @Test("a reply is cut short where its beginning says enough, and the connection made anew")
  func cutShort() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      var lost: [RedisError] = []
      connection.onLost = { lost.append($0) }
      let large = String(repeating: "x", count: 8 << 20)
      _ = try await connection.call(RedisCommand("RPUSH", "list", "first", large, "last"))
      let ask = RedisCommand("LRANGE", "list", "0", "-1")
      let whole = try await connection.call(ask, cutBytes: 16 << 20) { RESPValue($0) }
      #expect(whole.array?.last?.string == "last")

      for _ in 0..<3 {
        let log = Log()
        let failed = Signal()
        connection.send(ask, cutBytes: 100_000) { log.note($0) }
        // It is behind a reply whose end is not waited for.
        connection.send(RedisCommand("PING")) {
          log.note($0)
          failed.raise()
        }
        await failed.wait()
        #expect(try log.results[0].get().array?.map(\.string) == ["first", nil, nil])
        #expect(log.failures == [.connectionLost(reason: "a reply was cut short")])
        try await connection.waitUntilReady(timeoutMs: 30_000)
      }
      #expect(try await connection.call(RedisCommand("LLEN", "list")).integer == 3)
      #expect(lost.isEmpty, "nothing went wrong that anybody should hear of")
      connection.close()
    }
  }

  @Test func `closing twice and waiting on a closed connection do no harm`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      connection.close()
      connection.close()
      #expect(
        await failure {
          try await connection.waitUntilReady(timeoutMs: 1)
        } != nil)
    }
  }
}

/// Something that happens once and can be waited for; loop-bound.
final class Signal {
  private var isRaised = false
  private var continuation: UnsafeContinuation<Void, Never>?

  func raise() {
    isRaised = true
    continuation?.resume()
    continuation = nil
  }

  func wait() async {
    guard !isRaised else { return }
    await withUnsafeContinuation { continuation = $0 }
  }
}
