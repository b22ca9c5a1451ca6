import LocalServices
import Model
import Testing

@Suite struct SwitchTests {
  private static func run(_ redis: RedisServer, _ arguments: String...) async throws
    -> Pushpool.Result
  {
    let child = try Pushpool.start(
      ["switch"] + arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
    return try await Pushpool.finish(child)
  }

  @Test("what is switched off is listed with its reason until it is switched on")
  func switches() async throws {
    try await RedisServer.with { redis in
      let none = try await Self.run(redis, "list")
      #expect(none.status == 0 && none.output.isEmpty)
      let off = try await Self.run(redis, "off", "--app", "shop", "--reason", "wrong text")
      #expect(off.status == 0 && off.output == "app shop is off now\n")
      let again = try await Self.run(redis, "off", "--app", "shop")
      #expect(again.status == 0 && again.output.hasPrefix("app shop was off since 2"))
      #expect(again.output.hasSuffix(": wrong text\n"))
      let user = try await Self.run(redis, "off", "--app", "shop", "--user", "u|1", "--json")
      #expect(try user.json[0]["status"]?.stringValue == "off")
      #expect(try user.json[0]["switch"]?.stringValue == "user|shop|u|1")
      _ = try await Self.run(redis, "off", "--app", "shop", "--network", "fcm")

      let bucket = try await Self.run(redis, "off", "--app", "shop", "--bucket", "orders")
      #expect(bucket.status == 0 && bucket.output == "bucket orders of app shop is off now\n")
      let topic = try await Self.run(redis, "off", "--app", "shop", "--topic", "news")
      #expect(topic.status == 0 && topic.output == "topic news of app shop is off now\n")
      _ = try await Self.run(redis, "on", "--app", "shop", "--topic", "news")
      let bucketOn = try await Self.run(
        redis, "on", "--app", "shop", "--bucket", "orders", "--json")
      #expect(try bucketOn.json[0]["switch"]?.stringValue == "bucket|shop|orders")

      let list = try await Self.run(redis, "list", "--json")
      #expect(
        try list.json.map { $0["switch"]?.stringValue } == [
          "app|shop", "network|shop|fcm", "user|shop|u|1",
        ])
      #expect(try list.json[0]["reason"]?.stringValue == "wrong text")
      let table = try await Self.run(redis)
      #expect(table.output.contains("fcm of app shop"))
      let at = ["PUSHPOOL_REDIS_URL": redis.url]
      let status = try await Pushpool.run("status", environment: at)
      #expect(status.output.contains("Switched off: 3"))
      #expect(status.output.contains("wrong text"))
      let json = try await Pushpool.run("status", "--json", environment: at)
      #expect(try json.json[0]["switched_off"]?.arrayValue?.count == 3)

      let on = try await Self.run(redis, "on", "--app", "shop")
      #expect(on.status == 0 && on.output == "app shop is on again\n")
      #expect(on.error.contains("still off: fcm of app shop"))
      let repeated = try await Self.run(redis, "on", "--app", "shop", "--json")
      #expect(repeated.status == 0)
      #expect(try repeated.json[0]["status"]?.stringValue == "already_on")
      #expect(try await Self.run(redis, "list", "--json").json.count == 2)
    }
  }

  @Test("a job that waits names what keeps it, also where that is a user who is switched off")
  func hindrances() async throws {
    try await RedisServer.with { redis in
      try await redis.command(
        "HSET", "pushpool:job:shop:sale", "state", "running", "admitted", "1", "total", "1",
        "pending", "1", "created_at", "1790000000000", "source", "n1790000000000-0")
      let at = ["PUSHPOOL_REDIS_URL": redis.url]
      func kinds() async throws -> [String?] {
        let shown = try await Pushpool.run(
          "job", "sale", "--app", "shop", "--json", environment: at)
        return try #require(try shown.json.first?["hindrances"]?.arrayValue)
          .map { $0.objectValue?["kind"]?.stringValue }
      }
      #expect(try await kinds() == ["no_worker"])
      _ = try await Self.run(redis, "off", "--app", "shop", "--user", "u1")
      #expect(try await kinds() == ["no_worker", "users_switched_off"])
      let screen = try await Pushpool.run("job", "sale", "--app", "shop", environment: at)
      #expect(screen.output.contains("  no worker is running, and the job waits for one"))
      #expect(screen.output.contains("  1 user of app shop is switched off"), "\(screen)")
      #expect(screen.output.contains("pushpool switch list"))
      _ = try await Self.run(redis, "on", "--app", "shop", "--user", "u1")
      _ = try await Self.run(redis, "off", "--app", "shop", "--reason", "wrong text")
      #expect(try await kinds() == ["switched_off", "no_worker"])
      try await redis.command("HSET", "pushpool:job:shop:sale", "state", "done", "pending", "0")
      let ended = try await Pushpool.run("job", "sale", "--app", "shop", "--json", environment: at)
      #expect(try ended.json.first?["hindrances"] == nil)
    }
  }

  @Test("a switch that says too little or too much is a usage error")
  func usage() async throws {
    #expect(try await Pushpool.run("switch", "off").status == 64)
    #expect(try await Pushpool.run("switch", "off", "--app", "a b").status == 64)
    #expect(
      try await Pushpool.run(
        "switch", "off", "--app", "shop", "--user", "u1", "--network", "fcm"
      ).status == 64)
    #expect(
      try await Pushpool.run("switch", "off", "--app", "shop", "--network", "pager").status == 64)
    #expect(try await Pushpool.run("switch", "off", "--app", "shop", "--user", "").status == 64)
    #expect(try await Pushpool.run("switch", "off", "--app", "shop", "--bucket", "").status == 64)
    #expect(
      try await Pushpool.run(
        "switch", "off", "--app", "shop", "--user", "u1", "--bucket", "orders"
      ).status == 64)
    let reason = String(repeating: "x", count: 513)
    #expect(
      try await Pushpool.run("switch", "off", "--app", "shop", "--reason", reason).status == 64)
  }
}
