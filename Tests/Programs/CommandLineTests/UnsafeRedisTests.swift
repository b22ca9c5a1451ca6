import LocalServices
import Model
import Testing

/// What the program says of a Redis that loses what it has confirmed.
@Suite struct UnsafeRedisTests {
  private static let install = [
    "install", "--app", "shop", "--user", "u1", "--network", "apns", "--token",
    String(repeating: "ab", count: 32),
  ]

  private static func evicting() -> RedisServer.Options {
    var options = RedisServer.Options()
    options.configuration = ["maxmemory 200mb", "maxmemory-policy allkeys-lru"]
    return options
  }

  @Test("import and enqueue name each setting before they bring what may be lost, unless accepted")
  func warns() async throws {
    try await RedisServer.with(Self.evicting()) { redis in
      let folder = try TemporaryFolder()
      let file = try ImportFile.write([ImportFile.line(1)], in: folder)
      try PrivateFile.write(
        #"{"app":"shop","audience":{"users":["u1"]},"notification":{"body":"x"}}"#,
        to: folder.file("job.json"))
      for arguments in [["import", file], ["enqueue", folder.file("job.json")]] {
        for (risks, isTold) in [("replica", true), ("eviction, no_append_only_file", false)] {
          let child = try Pushpool.start(
            arguments,
            environment: [
              "PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_REDIS_ACCEPTED_RISKS": risks,
            ])
          let result = try await Pushpool.finish(child)
          #expect(result.status == 0, "\(arguments): \(result)")
          for setting in ["maxmemory-policy allkeys-lru", "appendonly no"] {
            let warning = "warning: Redis has \(setting)"
            #expect(result.error.contains(warning) == isTold, "\(arguments): \(result)")
          }
        }
      }
    }
  }

  @Test("status and install name each setting and what it costs, unless it is accepted")
  func tells() async throws {
    try await RedisServer.with(Self.evicting()) { redis in
      let told = ["PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_REDIS_ACCEPTED_RISKS": "replica"]
      let screen = try await Pushpool.run("status", environment: told)
      #expect(screen.status == 0)
      #expect(
        screen.output.contains(
          "Redis is a primary, append-only file off, maxmemory-policy allkeys-lru"))
      #expect(screen.output.contains("unsafe: Redis has maxmemory-policy allkeys-lru"))
      #expect(screen.output.contains("unsafe: Redis has appendonly no"))
      let installed = try await Pushpool.finish(
        try Pushpool.start(Self.install, environment: told))
      #expect(installed.status == 0 && installed.output.hasPrefix("created"))
      #expect(installed.error.contains("warning: Redis has maxmemory-policy allkeys-lru"))
      #expect(installed.error.contains("warning: Redis has appendonly no"))

      var accepted = told
      accepted["PUSHPOOL_REDIS_ACCEPTED_RISKS"] = "eviction, no_append_only_file"
      let again = try await Pushpool.finish(
        try Pushpool.start(Self.install, environment: accepted))
      #expect(again.status == 0 && again.error == "")
      let json = try await Pushpool.run("status", "--json", environment: accepted).json
      let risks = try #require(
        json.first?["redis"]?.arrayValue?.first?.objectValue?["risks"]?.arrayValue)
      #expect(risks.map { $0.objectValue?["accepted"]?.boolValue } == [true, true])
      #expect(
        try await Pushpool.run("status", environment: accepted).output.contains("unsafe") == false)
    }
  }

  @Test("status --check ends with 1 for what is unsafe and not accepted, though no worker looks")
  func checks() async throws {
    try await RedisServer.with(Self.evicting()) { redis in
      for (risks, named) in [
        ("replica", "2 alarms: unsafe_redis|eviction, unsafe_redis|no_append_only_file"),
        ("eviction", "1 alarm: unsafe_redis|no_append_only_file"),
        ("eviction, no_append_only_file", nil),
      ] {
        let result = try await Pushpool.run(
          "status", "--check",
          environment: [
            "PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_REDIS_ACCEPTED_RISKS": risks,
          ])
        #expect(result.status == (named == nil ? 0 : 1), "\(risks): \(result)")
        #expect(result.error == (named.map { "pushpool: \($0)\n" } ?? ""), "\(risks): \(result)")
      }
      // What a worker has raised is named once.
      try await redis.command(
        "HSET", "pushpool:alarms", "unsafe_redis|eviction",
        #"{"at":1,"until":9000000000000,"by":"x","message":"m"}"#)
      let raised = try await Pushpool.run(
        "status", "--check",
        environment: [
          "PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_REDIS_ACCEPTED_RISKS": "no_append_only_file",
        ])
      #expect(raised.error == "pushpool: 1 alarm: unsafe_redis|eviction\n")
      #expect(!raised.output.contains("unsafe: "))
    }
  }

  @Test("a word of the accepted risks that is none is refused with the near one")
  func refusesWord() async throws {
    let result = try await Pushpool.run(
      "status", environment: ["PUSHPOOL_REDIS_ACCEPTED_RISKS": "evictoin"])
    #expect(result.status == 78)
    #expect(result.error.contains("PUSHPOOL_REDIS_ACCEPTED_RISKS"))
    #expect(result.error.contains("did you mean \"eviction\"?"))
  }
}
