import LocalServices
import Model
import Testing

@Suite struct DeadLetterTests {
  /// A letter as the workers write it.
  private func bury(_ redis: RedisServer, job: String, reason: String) async throws -> String {
    let child = try ChildProcess(
      "redis-cli",
      [
        "-s", redis.socketPath, "XADD", "pushpool:dead", "*", "at", "1790000000000", "kind", "job",
        "reason", reason, "field", "/app", "message", "is\u{1B}[2J unknown", "app", "shop", "id",
        "sale", "priority", "normal", "job", job, "truncated", "0",
      ], output: .pipe)
    return try #require(await child.standardOutput?.nextLine(timeoutMs: Pushpool.timeoutMs))
  }

  @Test("dead letters are listed, shown whole, retried and dropped")
  func letters() async throws {
    try await RedisServer.with { redis in
      let at = ["PUSHPOOL_REDIS_URL": redis.url]
      let job = #"{"id":"sale"}"#
      let first = try await bury(redis, job: job, reason: "unknown_app")
      let second = try await bury(redis, job: job, reason: "invalid_job")

      let table = try await Pushpool.run("dead", "list", environment: at)
      #expect(table.output.contains("unknown_app"))
      #expect(!table.output.contains("\u{1B}"))
      let list = try await Pushpool.run("dead", "--json", environment: at)
      #expect(try list.json.map { $0["entry"]?.stringValue } == [first, second])
      #expect(try list.json[0]["job"] == nil)
      let shown = try await Pushpool.run("dead", "show", first, "--json", environment: at)
      #expect(try shown.json[0]["job"]?.stringValue == job)

      let retried = try await Pushpool.run("dead", "retry", first, environment: at)
      #expect(retried.output == "1 retried\n")
      let again = try await Pushpool.run("dead", "retry", first, environment: at)
      #expect(again.status == 65)
      #expect(try await Pushpool.run("dead", "show", first, environment: at).status == 65)

      let dropped = try await Pushpool.run("dead", "drop", "--all", "--json", environment: at)
      #expect(try dropped.json[0]["dropped"]?.int64Value == 1)
      let status = try await Pushpool.run("status", "--json", environment: at)
      #expect(try status.json[0]["dead"]?.int64Value == 0)
      let backlog = try status.json[0]["backlog"]?.objectValue?["normal"]?.objectValue
      #expect(backlog?["jobs"]?.int64Value == 1)
    }
  }
}
