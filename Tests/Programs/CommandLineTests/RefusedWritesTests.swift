import LocalServices
import Model
import TestSupport
import Testing

/// A Redis that cannot do what it is asked as it is now.
@Suite struct RefusedWritesTests {
  private static let token = ImportFile.token(1)

  private static func install(_ user: String) -> [String] {
    ["install", "--app", "shop", "--user", user, "--network", "apns", "--token", token]
  }

  private static func run(_ arguments: [String], _ url: String) async throws -> Pushpool.Result {
    try await Pushpool.finish(
      Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": url]))
  }

  @Test("a full Redis is said to be full, and what to do about it")
  func full() async throws {
    try await RedisServer.with { redis in
      #expect(try await Self.run(Self.install("u1"), redis.url).status == 0)
      try await redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let result = try await Self.run(Self.install("u2"), redis.url)
      #expect(result.status == 69 && result.error.contains("OOM"), "\(result)")
      #expect(result.error.contains("raise maxmemory"), "\(result)")
      let read = try await Self.run(["devices", "--app", "shop", "--user", "u1"], redis.url)
      #expect(read.status == 0)
    }
  }

  @Test("a database that Redis has not is named with what to write in its place")
  func missingDatabase() async throws {
    var options = RedisServer.Options()
    options.tcp = true
    try await RedisServer.with(options) { redis in
      let url = try #require(redis.tcpURL)
      let result = try await Self.run(["status"], "\(url)/99")
      #expect(result.status == 69 && result.error.contains("DB index is out of range"))
      #expect(result.error.contains("number at the end of the URL"), "\(result)")
    }
  }
}
