import LocalServices
import Model
import Testing

/// What the commands say of a job that no worker admitted.
@Suite struct RefusedJobTests {
  private static let record = [
    "state", "refused", "source", "n1790000000000-0", "created_at", "1790000000000", "reason",
    "invalid_job", "field", "/audience", "message", "is \u{1B}[2Jmissing", "dead_letter",
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
      #expect(fields["dead_letter"]?.stringValue == "1790000000005-0")
      #expect(fields["refused_at"]?.int64Value == 1_790_000_000_005)
      #expect(fields["finished_at"] == nil)
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
