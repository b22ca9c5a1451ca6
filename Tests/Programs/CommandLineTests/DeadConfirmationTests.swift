import LocalServices
import Testing

/// What `dead drop --all` asks of whom.
@Suite struct DeadConfirmationTests {
  private static func withLetter(_ body: (RedisServer) async throws -> Void) async throws -> String
  {
    try await RedisServer.with { redis in
      func run(_ words: String...) async throws -> String {
        let child = try ChildProcess("redis-cli", ["-s", redis.socketPath] + words, output: .pipe)
        let output = await child.standardOutput?.rest(timeoutMs: Pushpool.timeoutMs) ?? ""
        _ = await child.waitForExit(timeoutMs: Pushpool.timeoutMs)
        return output
      }
      _ = try await run("XADD", "pushpool:dead", "1-1", "kind", "job", "job", "{}")
      try await body(redis)
      return try await run("XLEN", "pushpool:dead")
    }
  }

  @Test(
    "a person at a plain terminal is asked, and what is not confirmed stays", arguments: ["n", ""])
  func plain(answer: String) async throws {
    let left = try await Self.withLetter { redis in
      let terminal = try PseudoTerminal()
      let shell = ["/bin/sh", "-c", #"exec "$0" "$@" <"\#(terminal.path)" 2>"\#(terminal.path)""#]
      let child = try Pushpool.start(
        ["dead", "drop", "--all", "--redis", redis.url], behind: shell,
        environment: ["TERM": "dumb"])
      terminal.type(answer + "\n")
      let result = try await Pushpool.finish(child)
      #expect(result.status == 130 && result.output == "", "\(result)")
    }
    #expect(left == "1\n")
  }

  @Test("a person who cannot be asked is told to say it on the command line")
  func redirected() async throws {
    let left = try await Self.withLetter { redis in
      let terminal = try PseudoTerminal()
      let result = try await Pushpool.run(
        "dead", "drop", "--all", "--redis", redis.url, input: terminal.path)
      #expect(result.status == 64 && result.error.contains("give --yes"), "\(result)")
      #expect(result.error.contains("drop 1 dead letter,"))
    }
    #expect(left == "1\n")
  }

  @Test("a program is not asked, and one that names a letter that is not there hears of it")
  func program() async throws {
    let left = try await Self.withLetter { redis in
      let missing = try await Pushpool.run("dead", "drop", "7-7", "--redis", redis.url)
      #expect(missing.status == 65 && missing.error.contains("7-7: is not there"), "\(missing)")
      let all = try await Pushpool.run("dead", "drop", "--all", "--redis", redis.url)
      #expect(all.status == 0 && all.output == "1 dropped\n", "\(all)")
    }
    #expect(left == "0\n")
  }
}
