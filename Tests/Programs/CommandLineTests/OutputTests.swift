import Glibc
import LocalServices
import Testing

/// A result that could not be written is no result.
@Suite struct OutputTests {
  /// Runs the program with its standard output in a file.
  private func run(
    _ arguments: [String], into file: String, at url: String
  ) async throws -> (status: ChildProcess.Exit?, error: String) {
    let child = try ChildProcess(
      Pushpool.path, arguments,
      environment: ["PATH": "/usr/bin:/bin", "PUSHPOOL_REDIS_URL": url], folder: "/",
      output: .file(file), error: .pipe)
    let exit = await child.waitForExit(timeoutMs: Pushpool.timeoutMs)
    return (exit, await child.standardError?.rest(timeoutMs: Pushpool.timeoutMs) ?? "")
  }

  @Test(
    "a full disk under standard output is a failure that says so",
    arguments: [
      ["dead", "show", "1-1"], ["dead", "list", "--json"], ["status"], ["status", "--json"],
      ["metrics"],
      ["job", "sale", "--app", "shop"], ["export"], ["switch", "list"], ["--help"], ["--version"],
    ])
  func full(arguments: [String]) async throws {
    try await RedisServer.with { redis in
      for words in [
        [
          "XADD", "pushpool:dead", "1-1", "at", "1790000000000", "kind", "job", "reason",
          "invalid_job", "field", "", "message", "m", "app", "shop", "id", "sale", "priority",
          "normal", "job", "{}", "truncated", "0",
        ],
        ["HSET", "pushpool:job:shop:sale", "state", "done", "total", "0", "pending", "0"],
        ["HSET", "pushpool:switches", "app|shop", "{}"],
        [
          "HSET", "pushpool:token:apns:shop:aa", "user", "ann", "environment", "production",
          "generation", "1",
        ],
      ] {
        let child = try ChildProcess("redis-cli", ["-s", redis.socketPath] + words, output: .pipe)
        _ = await child.waitForExit(timeoutMs: Pushpool.timeoutMs)
      }
      let result = try await run(arguments, into: "/dev/full", at: redis.url)
      #expect(result.status == .code(74), "\(result)")
      #expect(result.error.contains("No space left"), "\(result)")
      #expect(try await run(arguments, into: "/dev/null", at: redis.url).status == .code(0))
    }
  }

  @Test(
    "times in texts are local, with UTC beside them; where local is UTC, once; JSON has numbers",
    arguments: [
      ("Asia/Tokyo", "2026-09-21 23:13:20 JST (14:13:20Z)"), ("UTC", "2026-09-21T14:13:20Z"),
      ("America/New_York", "2026-09-21 10:13:20 EDT (14:13:20Z)"),
    ])
  func times(zone: String, time: String) async throws {
    try await RedisServer.with { redis in
      _ = try await redis.command(
        "XADD", "pushpool:dead", "1-1", "at", "1790000000000", "kind", "job", "reason",
        "invalid_job", "field", "", "message", "m", "app", "shop", "id", "sale", "priority",
        "normal", "job", "{}", "truncated", "0")
      let environment = ["TZ": zone, "PUSHPOOL_REDIS_URL": redis.url]
      let list = try await Pushpool.run("dead", "list", environment: environment)
      #expect(list.output.contains("  \(time)  "), "\(list)")
      let json = try await Pushpool.run("dead", "list", "--json", environment: environment)
      #expect(json.output.contains("1790000000000") && !json.output.contains("14:13:20"))
    }
  }

  @Test("an export whose reader ends early fails and says so; other commands end well")
  func brokenPipe() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      defer { folder.close() }
      // More than a pipe holds, so that some of it is written behind the reader's end.
      let path = try ImportFile.write((0..<3_000).map { ImportFile.line($0) }, in: folder)
      #expect(try await Pushpool.run("import", path, "--redis", redis.url).status == 0)
      for (command, status) in [("export", CInt(74)), ("status", 0)] {
        let child = try ChildProcess(
          "/bin/bash",
          ["-c", #""$0" "$@" | head -c 100; exit ${PIPESTATUS[0]}"#, Pushpool.path, command],
          environment: ["PATH": "/usr/bin:/bin", "PUSHPOOL_REDIS_URL": redis.url], folder: "/",
          output: .pipe, error: .pipe)
        let result = try await Pushpool.finish(child)
        #expect(result.status == status, "\(result)")
        #expect(result.error.contains("the export is not whole") == (status != 0), "\(result)")
      }
    }
  }

  @Test("an import whose rejects cannot be kept does not go on")
  func rejects() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      defer { folder.close() }
      let file = folder.file("installations.ndjson")
      let stream = try #require(fopen(file, "we"))
      fputs("{\"bad\": 1}\n{\"worse\": 2}\n", stream)
      fclose(stream)
      let result = try await Pushpool.run(
        "import", file, "--skip-errors", "--rejects", "/dev/full",
        environment: ["PUSHPOOL_REDIS_URL": redis.url])
      #expect(result.status == 74, "\(result)")
      #expect(result.error.contains("/dev/full"), "\(result)")
    }
  }
}
