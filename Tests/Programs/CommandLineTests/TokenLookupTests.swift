import LocalServices
import Model
import Testing

/// What `pushpool devices` tells of a token, and of what a user lost.
@Suite struct TokenLookupTests {
  private static let token = String(repeating: "ab12", count: 16)

  private func run(
    _ redis: RedisServer, _ arguments: String...
  ) async throws -> Pushpool.Result {
    let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
    return try await Pushpool.finish(child)
  }

  private func install(_ user: String, _ redis: RedisServer) async throws {
    let result = try await run(
      redis, "install", "--app", "shop", "--user", user, "--network", "apns", "--token", Self.token)
    #expect(result.status == 0, "\(result)")
  }

  @Test("of a token it is told who has it, since when, and what became of it last")
  func token() async throws {
    try await RedisServer.with { redis in
      func tell(_ options: String...) async throws -> Pushpool.Result {
        let child = try Pushpool.start(
          ["devices", "--app", "shop", "--token", Self.token.uppercased()] + options,
          environment: ["PUSHPOOL_REDIS_URL": redis.url])
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0, "\(result)")
        return result
      }
      #expect(try await tell().error.contains("nobody of shop has this token"))
      try await install("ann", redis)
      let first = try await tell()
      #expect(first.output.contains("apns token \(Self.token): of user ann since 20"))
      #expect(!first.output.contains("last:"))
      try await install("bob", redis)
      let moved = try await tell()
      #expect(moved.output.contains("of user bob since 20"))
      #expect(moved.output.contains("last: bob installed it at 20"))
      #expect(moved.output.contains("before it was ann's"))
      let gone = try await run(
        redis, "uninstall", "--app", "shop", "--network", "apns", "--token", Self.token)
      #expect(gone.status == 0, "\(gone)")
      #expect(try await tell().output.contains("apns token \(Self.token): nobody's"))
      let json = try #require(try await tell("--json").json.first)
      #expect(json["network"]?.stringValue == "apns" && json["user"] == nil)
      let departure = try #require(json["departure"]?.objectValue)
      #expect(departure["cause"]?.stringValue == "explicit")
      #expect(departure["user"]?.stringValue == "bob" && departure["at"]?.int64Value != nil)
    }
  }

  @Test("of a user's devices the last that went is told, and programs get the devices alone")
  func user() async throws {
    try await RedisServer.with { redis in
      try await install("ann", redis)
      try await install("bob", redis)
      let plain = try await run(redis, "devices", "--app", "shop", "--user", "ann")
      #expect(plain.status == 0 && plain.output.isEmpty)
      #expect(plain.error.contains("user ann of shop has no installations"))
      #expect(plain.error.contains("bob installed it at 20"))
      let json = try await run(redis, "devices", "--app", "shop", "--user", "ann", "--json")
      #expect(json.status == 0 && json.output.isEmpty && json.error.isEmpty)
    }
  }

  @Test("a user and a token are not asked for together, nor neither of them")
  func usage() async throws {
    try await RedisServer.with { redis in
      for arguments in [[], ["--user", "ann", "--token", Self.token]] {
        let child = try Pushpool.start(
          ["devices", "--app", "shop"] + arguments,
          environment: ["PUSHPOOL_REDIS_URL": redis.url])
        let result = try await Pushpool.finish(child)
        #expect(result.status == 64 && result.error.contains("one of --user and --token"))
      }
      let bad = try await run(redis, "devices", "--app", "shop", "--token", "a b")
      #expect(bad.status == 65 && bad.error.contains("--token"), "\(bad)")
    }
  }
}
