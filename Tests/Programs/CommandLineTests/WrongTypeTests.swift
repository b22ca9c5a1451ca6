import LocalServices
import Store
import Testing
import TestSupport

/// A value of another type under a key of pushpool's: every command names the key, and status works on.
@Suite struct WrongTypeTests {
  private static let token = ImportFile.token(1)
  private static let install = [
    "install", "--app", "shop", "--user", "u1", "--network", "apns", "--token", token,
  ]

  private static func run(_ arguments: [String], _ redis: RedisServer) async throws
    -> Pushpool.Result
  {
    try await Pushpool.finish(
      Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url]))
  }

  private static func minutes(_ redis: RedisServer) async throws -> [String] {
    let seconds = try #require(
      Int64(try await redis.command("TIME").split(separator: "\n").first ?? ""))
    // The test may go on into the next.
    return [-60, 0, 60].map { Minute.name(epochSeconds: seconds + $0) }
  }

  /// Keys that are read for a screen, and the type that each should have.
  private static let shown = [
    ("timeline", "stream"), ("generation", "string"), ("alarms", "hash"), ("workers", "zset"),
    ("switches", "hash"), ("dead", "stream"), ("audit", "stream"), ("uninstalled", "stream"),
    ("unbound", "zset"), ("indexed", "hash"),
  ]

  @Test("status works on, and its alarm names the key, its type and the type that it should have")
  func status() async throws {
    try await RedisServer.with { redis in
      #expect(try await Self.run(Self.install, redis).status == 0)
      for (name, type) in Self.shown {
        let key = "pushpool:\(name)"
        try await redis.command("RENAME", key, "kept")
        try await redis.command("GEOADD", key, "1", "1", "x")
        if type == "zset" {
          try await redis.command("DEL", key)
          try await redis.command("RPUSH", key, "x")
        }
        let result = try await Self.run(["status", "--check"], redis)
        #expect(result.status == 1, "\(name): \(result)")
        #expect(result.error.contains("wrong_type|\(name)"), "\(name): \(result)")
        let found = type == "zset" ? "list" : "zset"
        #expect(
          result.output.contains("\(key) holds a \(found), not a \(type)"), "\(name): \(result)")
        try await redis.command("DEL", key)
        try await redis.command("RENAME", "kept", key)
      }
      let minutes = try await Self.minutes(redis)
      for minute in minutes { try await redis.command("SET", "pushpool:metrics:\(minute)", "x") }
      let result = try await Self.run(["status", "--check"], redis)
      #expect(result.status == 1, "\(result)")
      #expect(result.error.contains("wrong_type|metrics:20"), "\(result)")
      #expect(result.output.contains("holds a string, not a hash"), "\(result)")
      for minute in minutes { try await redis.command("DEL", "pushpool:metrics:\(minute)") }
      #expect(try await Self.run(["status", "--check"], redis).status == 0)
    }
  }

  /// A key, the type that it should have, and what needs it.
  private static let needed: [(key: String, type: String, commands: [[String]])] = [
    (
      "pushpool:user:shop:u1", "string",
      [
        install, ["devices", "--app", "shop", "--user", "u1"],
        ["badge", "0", "--app", "shop", "--user", "u1"],
        ["uninstall", "--app", "shop", "--network", "apns", "--token", token],
      ]
    ),
    (
      "pushpool:token:apns:shop:\(token)", "hash",
      [
        install, ["uninstall", "--app", "shop", "--network", "apns", "--token", token],
        ["devices", "--app", "shop", "--user", "u1"],
      ]
    ),
    ("pushpool:generation", "string", [install]),
    (
      "pushpool:audit", "stream",
      [["uninstall", "--app", "shop", "--network", "apns", "--token", token]]
    ),
    (
      "pushpool:audiences:shop", "hash",
      [["export"], ["topics", "--app", "shop"], ["channels", "--app", "shop"]]
    ),
    ("pushpool:job:shop:j1", "hash", [["job", "j1", "--app", "shop"]]),
    ("pushpool:dead", "stream", [["dead", "list"]]),
    ("pushpool:switches", "hash", [["switch", "list"], ["switch", "off", "--app", "shop"]]),
    ("pushpool:keys", "hash", [["keys", "list"], ["keys", "create", "--role", "admin"]]),
    ("pushpool:acts", "stream", [["audit"]]),
    ("pushpool:open", "set", [["jobs"]]), ("pushpool:finished", "stream", [["jobs"]]),
  ]

  @Test(
    "a command that needs the key ends with its name, its type, the right type and what to do",
    arguments: needed.indices)
  func commands(index: Int) async throws {
    let (key, type, commands) = Self.needed[index]
    try await RedisServer.with { redis in
      #expect(try await Self.run(Self.install, redis).status == 0)
      try await redis.command("DEL", key)
      try await redis.command("GEOADD", key, "1", "1", "x")
      for arguments in commands {
        let result = try await Self.run(arguments, redis)
        #expect(result.status == 65, "\(arguments): \(result)")
        #expect(
          result.error.contains("\(key) holds a zset, not a \(type)"), "\(arguments): \(result)")
        #expect(result.error.contains("--prefix"), "\(arguments): \(result)")
        #expect(!result.error.contains("user_function"), "\(arguments): \(result)")
      }
      let remedy =
        switch key {
        case "pushpool:generation": "redis-cli SET \(key) "
        // Without a moment in which the key is missing.
        case "pushpool:switches": "redis-cli RENAME \(key):new \(key)"
        default: "redis-cli RENAME \(key) pushpool:displaced:"
        }
      let last = try await Self.run(commands[0], redis)
      #expect(last.error.contains(remedy), "\(last)")
    }
  }

  @Test("an import names the key as well")
  func importing() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try await redis.command("RPUSH", "pushpool:user:shop:u7", "x")
      let path = try ImportFile.write((0..<20).map { ImportFile.line($0) }, in: folder)
      let result = try await Self.run(["import", path], redis)
      #expect(result.status == 65, "\(result)")
      #expect(
        result.error.contains("pushpool:user:shop:u7 holds a list, not a string"), "\(result)")
    }
  }
}
