import Glibc
import LocalServices
import Testing
import TestSupport

/// Whatever Redis holds or answers, a command ends with a status of its own, not with a trap.
@Suite struct HostileRedisTests {
  private static let content: [[String]] = [
    [
      "HSET", "pushpool:job:shop:sale", "state", "running", "total", "10", "pending", "4",
      "accepted", "5", "failed", "1", "created_at", "1790000000000", "started_at",
      "1790000000000", "admitted", "1", "priority", "normal", "source", "n1790000000000-0",
    ],
    ["SET", "pushpool:content:shop:sale", "{\"notification\":{\"title\":\"t\"},\"trace\":true}"],
    [
      "XADD", "pushpool:trace:shop:sale", "*", "by", "w-0", "events", "3", "lines",
      "1790000000000\tdecided\tapns\tproduction\taa\tu1\t1\t200\t\t12\taccepted\t\t5\t2\n",
    ],
    [
      "XADD", "pushpool:dead", "1790000000000-1", "at", "1790000000000", "kind", "chunk",
      "reason", "r", "field", "", "message", "m", "app", "shop", "id", "sale", "priority",
      "normal", "count", "5", "recipients", "u1\n",
    ],
    ["HSET", "pushpool:metrics:202611211200", "shop|apns|accepted", "12"],
    [
      "HSET", "pushpool:alarms", "breaker|shop|apns|production",
      "{\"at\":1790000000000,\"until\":1990000000000,\"by\":\"w\",\"message\":\"m\"}",
    ],
    ["HSET", "pushpool:switches", "app|other", "{\"since\":1790000000000,\"reason\":\"r\"}"],
    [
      "HSET", "pushpool:keys", "k7mq2xw5rt3a",
      "{\"role\":\"admin\",\"sha256\":\"\(String(repeating: "0", count: 64))\",\"created_at\":9e99}",
    ],
    ["XADD", "pushpool:acts", "*", "at", "1790000000000", "verb", "job.cancel", "who", "ann"],
    ["ZADD", "pushpool:workers", "1790000000000", "w"],
    ["ZADD", "pushpool:workers", "9000000000000", "w"],
    ["HSET", "pushpool:totals", "shop|apns|accepted", "12", "since", "1790000000000"],
    ["HSET", "pushpool:oldest", "at", "1790000000000", "low|since", "1780000000000"],
    ["SADD", "pushpool:open", "shop:sale"],
    [
      "HSET", "pushpool:worker:w", "lanes", "2", "rss_bytes", "5000", "started_at",
      "1790000000000", "in_flight", "7", "connections", "3", "accepted_per_second", "9",
      "cpu_ms", "5", "networks", "apns:1/2/3/4", "answers_apns", "1000:5 +:1 sum:9",
    ],
    [
      "XADD", "pushpool:timeline", "*", "backlog", "1", "accepted_per_second", "5",
    ],
    ["SET", "pushpool:user:shop:u1", "apns\tproduction\t5\t1790000000000\taa\n"],
    [
      "HSET", "pushpool:token:apns:shop:aa", "user", "u1", "environment", "production",
      "generation", "5", "created_at", "1790000000000", "updated_at", "1790000000000", "badge",
      "3",
    ],
  ]

  private static let commands: [[String]] = [
    ["status"], ["status", "--json"], ["job", "sale", "--app", "shop"],
    ["job", "sale", "--app", "shop", "--json"], ["job", "n5-0", "--app", "shop", "pause"],
    ["trace", "--app", "shop", "--job", "sale", "--user", "u1"],
    ["trace", "--app", "shop", "--job", "sale", "--json"], ["dead", "list"],
    ["dead", "list", "--json"], ["dead", "show", "1790000000000-1"],
    ["dead", "retry", "--all", "--yes"], ["devices", "--app", "shop", "--user", "u1"],
    ["switch", "list"], ["switch", "off", "--app", "x"],
    ["install", "--app", "shop", "--user", "u2", "--network", "apns", "--token", token],
    ["uninstall", "--app", "shop", "--network", "apns", "--token", token], ["metrics"],
    ["keys", "list"], ["keys", "create", "--role", "admin"], ["audit"], ["audit", "--json"],
  ]
  private static let token = String(repeating: "ab", count: 32)

  @Test("no answer of Redis ends a command by a signal", arguments: 0..<commands.count)
  func endsByItself(number: Int) async throws {
    let arguments = Self.commands[number]
    try await TestLane.withRedis { lane, server in
      for words in Self.content {
        let child = try ChildProcess("redis-cli", ["-s", server.socketPath] + words, output: .pipe)
        _ = await child.waitForExit(timeoutMs: Pushpool.timeoutMs)
      }
      for seed in 0..<12 {
        let proxy = try AlteringRedis(
          loop: lane.loop, server: server.endpoint, seed: UInt64(number * 1_000 + seed),
          perMille: 500)
        let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": proxy.url])
        let result = try await Pushpool.finish(child)
        #expect(result.status != nil, "\(arguments), seed \(seed): \(result.error.suffix(1_500))")
        proxy.close()
      }
    }
  }
}
