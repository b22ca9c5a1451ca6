import LocalServices
import Model
import Testing

/// What the commands say of a job that no worker admitted, and of what a job says.
@Suite struct RefusedJobTests {
  private static let record = [
    "state", "refused", "source", "n1790000000000-0", "created_at", "1790000000000", "reason",
    "invalid_job", "field", "/audience", "message", "is \u{1B}[2Jmissing", "letter",
    "1790000000005-0",
  ]

  private func redis(_ words: [String], at server: RedisServer) async throws {
    let child = try ChildProcess("redis-cli", ["-s", server.socketPath] + words, output: .discard)
    #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
  }

  @Test("a refused job is shown with the reason and the letter, and is a failure as bad input is")
  func shown() async throws {
    try await RedisServer.with { server in
      let at = ["PUSHPOOL_REDIS_URL": server.url]
      try await redis(
        ["HSET", "pushpool:job:shop:sale", "refused_at", "1790000000005"] + Self.record, at: server)
      for verb in ["show", "cancel", "pause"] {
        let plain = try await Pushpool.run("job", "sale", verb, "--app", "shop", environment: at)
        #expect(plain.status == 65 && plain.output.contains("job sale of shop: refused"))
        #expect(plain.error.contains("the job was refused (invalid_job): /audience: is "))
        #expect(plain.error.contains("pushpool dead show 1790000000005-0"))
        #expect(!plain.error.contains("\u{1B}"))
      }
      let json = try await Pushpool.run("job", "sale", "--app", "shop", "--json", environment: at)
      let fields = try #require(try json.json.first)
      #expect(json.status == 65 && fields["state"]?.stringValue == "refused")
      #expect(fields["reason"]?.stringValue == "invalid_job")
      #expect(fields["field"]?.stringValue == "/audience")
      #expect(fields["letter"]?.stringValue == "1790000000005-0")
      #expect(fields["refused_at"]?.int64Value == 1_790_000_000_005)
      #expect(fields["finished_at"] == nil)
    }
  }

  @Test("what a job says is shown when it is asked for, also of one that waits")
  func content() async throws {
    try await RedisServer.with { server in
      let at = ["PUSHPOOL_REDIS_URL": server.url]
      let job =
        #"{"id":"sale","app":"shop","audience":{"users":["a","b"]},"filter":{"language":["ja"]},"#
        + #""notification":{"title":"Everything must go"}}"#
      try await redis(["XADD", "pushpool:jobs:low", "*", "job", job], at: server)
      // A command that changes something loads the functions that look for a job that waits.
      let named = try await Pushpool.run(
        "job", "sale", "pause", "--app", "shop", environment: at)
      #expect(named.status == 0, "\(named)")
      let plain = try await Pushpool.run(
        "job", "sale", "--app", "shop", "--content", environment: at)
      #expect(plain.status == 0 && plain.output.contains(#"audience  {"users":2}"#), "\(plain)")
      #expect(plain.output.contains(#"filter  {"language":["ja"]}"#), "\(plain)")
      #expect(plain.output.contains("Everything must go"), "\(plain)")
      let json = try await Pushpool.run(
        "job", "sale", "--app", "shop", "--content", "--json", environment: at)
      let fields = try #require(try json.json.first)
      #expect(fields["state"]?.stringValue == "paused")
      #expect(fields["audience"]?.objectValue?["users"]?.int64Value == 2)
      #expect(fields["content"]?.objectValue?["notification"] != nil)
      let wrong = try await Pushpool.run(
        "job", "sale", "cancel", "--app", "shop", "--content", environment: at)
      #expect(wrong.status == 64, "\(wrong)")
    }
  }

  @Test("the list of jobs has those that were refused among those that ended")
  func listed() async throws {
    try await RedisServer.with { server in
      let at = ["PUSHPOOL_REDIS_URL": server.url]
      try await redis(
        ["XADD", "pushpool:finished", "*", "app", "shop", "id", "sale", "finished_at"]
          + ["1790000000005"] + Self.record, at: server)
      let table = try await Pushpool.run("jobs", environment: at)
      #expect(table.status == 0 && table.output.contains("refused"))
      let list = try await Pushpool.run("jobs", "--json", environment: at)
      #expect(try list.json.map { $0["reason"]?.stringValue } == ["invalid_job"])
    }
  }
}
