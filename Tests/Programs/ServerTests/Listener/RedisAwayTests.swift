import LocalServices
import Testing

/// A server whose Redis is not there, goes and comes.
@Suite struct RedisAwayTests {
  @Test("a server starts without Redis, says so, and works once Redis is there")
  func startsWithout() async throws {
    try await RedisServer.with { redis in
      await redis.stop()
      let server = try await RunningServer.start(redis: redis.url, hasMetrics: true)
      let health = try await server.get("/healthz")
      #expect(health.status == 200)
      let ready = try await server.get("/readyz")
      #expect(ready.status == 503 && ready.headers["retry-after"] != nil)
      // Anybody may ask: the log alone says where Redis is.
      #expect(!ready.body.contains(redis.socketPath) && ready.body.contains("the server's log"))
      #expect(ready.headers["content-type"] == "application/problem+json")
      let metrics = try await server.get("/metrics", port: server.metricsPort)
      #expect(metrics.status == 200)
      #expect(metrics.body.contains("\npushpool_server_redis_connected 0\n"))
      #expect(!metrics.body.contains("pushpool_workers"))
      try await redis.restart()
      try await server.untilReady(200)
      #expect(await server.child.terminate(graceMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("a server answers 503 at once while Redis is away, and works again by itself")
  func goes() async throws {
    try await RunningServer.with(hasMetrics: true) { server, redis in
      func metrics() async throws -> String {
        try await server.get("/metrics", port: server.metricsPort).body
      }
      #expect(try await metrics().contains("\npushpool_workers 0\n"))
      await redis.stop()
      try await server.untilReady(503)
      // None of them waits for Redis, and all have an answer.
      let start = ContinuousClock.now
      for _ in 0..<50 {
        let answer = try await server.ask(
          "GET /v1/fleet HTTP/1.1\r\nAuthorization: Bearer \(Self.key)")
        #expect(answer.status == 503, "\(answer.body)")
        #expect(answer.headers["retry-after"] != nil)
      }
      #expect(ContinuousClock.now - start < .seconds(60))
      try await redis.restart()
      try await server.untilReady(200)
      let deadline = ContinuousClock.now + .milliseconds(RunningServer.timeoutMs)
      while !(try await metrics().contains("\npushpool_server_redis_connected 1\n")) {
        try #require(ContinuousClock.now < deadline)
      }
      // Redis knows no such key, and says so again.
      let answer = try await server.ask(
        "GET /v1/fleet HTTP/1.1\r\nAuthorization: Bearer \(Self.key)")
      #expect(answer.status == 401, "\(answer.body)")
    }
  }

  @Test("a Redis that cannot save answers what only reads, and the server is ready")
  func cannotSave() async throws {
    try await RunningServer.with { _, redis in
      try await redis.refuseWrites()
      let server = try await RunningServer.start(redis: redis.url)
      try await server.untilReady()
      let answer = try await server.ask(
        "GET /v1/fleet HTTP/1.1\r\nAuthorization: Bearer \(Self.key)")
      #expect(answer.status == 401, "\(answer.body)")
      #expect(await server.child.terminate(graceMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("a Redis that does not answer is not ready, and the probe does not wait for it")
  func freezes() async throws {
    try await RunningServer.with { server, redis in
      await redis.freeze()
      let start = ContinuousClock.now
      try await server.untilReady(503)
      #expect(ContinuousClock.now - start < .seconds(60))
      #expect(try await server.get("/healthz").status == 200)
      await redis.thaw()
      try await server.untilReady(200)
    }
  }

  /// A key that no Redis knows.
  private static let key =
    "pp_operator-look_aaaaaaaaaaaa_\(String(repeating: "A", count: 43))"
}
