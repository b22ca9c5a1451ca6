import LocalServices
import TestSupport
import Testing

/// What a command says of a Redis that was reached and cannot serve as things are: what is wrong,
/// and not that it is to be started.
@Suite struct UnsuitableRedisTests {
  private static func expect(
    _ advice: String, from arguments: [String], at url: String?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let url = try #require(url, sourceLocation: sourceLocation)
    let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": url])
    let result = try await Pushpool.finish(child)
    #expect(result.status == 69, "\(result)", sourceLocation: sourceLocation)
    #expect(result.error.contains(advice), "\(result)", sourceLocation: sourceLocation)
    #expect(!result.error.contains("start it"), "\(result)", sourceLocation: sourceLocation)
  }

  /// The server stands for one of an older version: it lacks the command that an older one lacks.
  @Test("a Redis without functions is too old for what writes by them")
  func withoutFunctions() async throws {
    var options = RedisServer.Options()
    options.configuration = ["rename-command FUNCTION \"\""]
    try await RedisServer.with(options) { redis in
      let token = String(repeating: "ab", count: 32)
      try await Self.expect(
        "does not know FUNCTION: pushpool needs Redis 7.0 or later",
        from: ["install", "--app", "shop", "--user", "u1", "--network", "apns", "--token", token],
        at: redis.url)
    }
  }

  @Test("a port that speaks TLS is to be named with rediss://")
  func speaksTLS() async throws {
    let certificates = try TestCertificates()
    var options = RedisServer.Options()
    options.tls = RedisServer.TLS(certificates.server)
    try await RedisServer.with(options) { redis in
      try await Self.expect(
        "write rediss:// in place of redis://", from: ["status"],
        at: redis.tlsPort.map { "redis://127.0.0.1:\($0)" })
    }
  }
}
