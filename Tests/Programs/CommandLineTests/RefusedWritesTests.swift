import LocalServices
import Model
import TestSupport
import Testing

/// A Redis that answers reads and refuses writes, or everything.
@Suite struct RefusedWritesTests {
  private static let readings: [[String]] = [
    ["status"], ["status", "--json"], ["jobs"], ["devices", "--app", "shop", "--user", "u1"],
    ["export"], ["switch", "list"], ["topics", "--app", "shop"], ["channels", "--app", "shop"],
    ["dead", "list"],
  ]
  private static let writings: [[String]] = [
    install("u2"), ["uninstall", "--app", "shop", "--network", "apns", "--token", token],
    ["switch", "off", "--app", "shop"],
    ["badge", "0", "--app", "shop", "--user", "u1"],
    ["subscribe", "--app", "shop", "--topic", "news", "--user", "u1"],
    ["index", "--app", "shop"],
  ]
  private static let token = ImportFile.token(1)

  private static func install(_ user: String) -> [String] {
    ["install", "--app", "shop", "--user", user, "--network", "apns", "--token", token]
  }

  private static func run(_ arguments: [String], _ url: String) async throws -> Pushpool.Result {
    try await Pushpool.finish(
      Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": url]))
  }

  @Test("a Redis that cannot save is read on, and what writes says why it cannot and what to do")
  func cannotSave() async throws {
    try await RedisServer.with { redis in
      #expect(try await Self.run(Self.install("u1"), redis.url).status == 0)
      try await redis.refuseWrites()
      for arguments in Self.readings {
        let result = try await Self.run(arguments, redis.url)
        #expect(result.status == 0, "\(arguments): \(result)")
      }
      let checked = try await Self.run(["status", "--check"], redis.url)
      #expect(checked.status == 1 && checked.error.contains("1 alarm: refuses_writes"))
      #expect(checked.output.contains("MISCONF") && checked.output.contains("redis-cli BGSAVE"))
      for arguments in Self.writings {
        let result = try await Self.run(arguments, redis.url)
        #expect(result.status == 69, "\(arguments): \(result)")
        #expect(result.error.contains("MISCONF"), "\(arguments): \(result)")
        #expect(result.error.contains("unable to persist to disk"), "\(arguments): \(result)")
        #expect(result.error.contains("redis-cli BGSAVE"), "\(arguments): \(result)")
      }
      try await redis.takeWritesAgain()
      #expect(try await Self.run(["status", "--check"], redis.url).status == 0)
      #expect(try await Self.run(Self.install("u2"), redis.url).status == 0)
    }
  }

  @Test("a Redis that waits for replicas is said to refuse writes for want of them")
  func lacksReplicas() async throws {
    try await RedisServer.with { redis in
      #expect(try await Self.run(Self.install("u1"), redis.url).status == 0)
      try await redis.command("CONFIG", "SET", "min-replicas-to-write", "1")
      let checked = try await Self.run(["status", "--check"], redis.url)
      #expect(
        checked.status == 1 && checked.error.contains("1 alarm: refuses_writes"), "\(checked)")
      #expect(checked.output.contains("NOREPLICAS") && checked.output.contains("start them again"))
      let written = try await Self.run(Self.install("u2"), redis.url)
      #expect(written.status == 69 && written.error.contains("start them again"), "\(written)")
    }
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
