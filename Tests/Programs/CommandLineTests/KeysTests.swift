import LocalServices
import Model
import Testing
import TestSupport

/// `pushpool keys` and `pushpool audit`.
@Suite struct KeysTests {
  private static func run(_ redis: RedisServer, _ arguments: String...) async throws
    -> Pushpool.Result
  {
    let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
    return try await Pushpool.finish(child)
  }

  @Test("a key is shown once, listed without its secret, and revoked")
  func keys() async throws {
    try await RedisServer.with { redis in
      let none = try await Self.run(redis, "keys")
      #expect(none.status == 0 && none.output.isEmpty && none.error.contains("there are no keys"))
      let made = try await Self.run(
        redis, "keys", "create", "--role", "server", "--app", "shop", "--name", "backend")
      #expect(made.status == 0 && made.error.contains("this is shown once"), "\(made)")
      // The key alone, for a script to take.
      let parts = made.output.split(separator: "_", maxSplits: 3)
      #expect(made.output.hasPrefix("pp_server_") && made.output.hasSuffix("\n"))
      try #require(parts.count == 4)
      #expect(parts[2].utf8.count == 12 && parts[3].utf8.count == 44)
      let secret = String(parts[3].dropLast())
      let id = String(parts[2])
      #expect(!made.error.contains(secret) && made.error.contains(id))

      let json = try await Self.run(redis, "keys", "create", "--role", "admin", "--json")
      let object = try #require(try json.json.first)
      #expect(json.status == 0 && object.count == 2, "\(json)")
      let admin = try #require(object["id"]?.stringValue)
      #expect(object["key"]?.stringValue?.hasPrefix("pp_admin_\(admin)_") == true)

      let kept = try await redis.command("HGETALL", "pushpool:keys")
      #expect(kept.contains(id) && kept.contains(admin) && !kept.contains(secret))
      let table = try await Self.run(redis, "keys", "list")
      #expect(table.output.contains(id) && table.output.contains("backend"))
      #expect(!table.output.contains(secret) && !table.output.contains("sha256"))
      let list = try await Self.run(redis, "keys", "list", "--json")
      #expect(try Set(list.json.compactMap { $0["id"]?.stringValue }) == [id, admin])
      #expect(!list.output.contains("sha256"))

      let revoked = try await Self.run(redis, "keys", "revoke", id)
      #expect(revoked.status == 0 && revoked.output.hasPrefix("\(id) is revoked"))
      let again = try await Self.run(redis, "keys", "revoke", id)
      #expect(again.status == 65 && again.error.contains("there is no key \(id)"))
      #expect(try await Self.run(redis, "keys", "list", "--json").json.count == 1)
    }
  }

  @Test("keys are listed on a replica, where none is made or revoked")
  func replica() async throws {
    try await RedisServer.with { redis in
      let made = try await Self.run(redis, "keys", "create", "--role", "admin", "--json")
      let id = try #require(try made.json.first?["id"]?.stringValue)
      // Its primary is not there, so it keeps what it has.
      try await redis.command("REPLICAOF", "127.0.0.1", "1")
      let list = try await Self.run(redis, "keys", "list", "--json")
      #expect(list.status == 0, "\(list)")
      #expect(try list.json.compactMap { $0["id"]?.stringValue } == [id])
      for arguments in [["keys", "create", "--role", "admin"], ["keys", "revoke", id]] {
        let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
        let result = try await Pushpool.finish(child)
        #expect(result.status == 69 && result.error.contains("replica"), "\(arguments): \(result)")
      }
    }
  }

  @Test("a key that is wrongly asked for is a usage error, and device explains user tokens")
  func usage() async throws {
    for (arguments, words) in [
      (["--role", "device"], "user token (JWT)"), (["--role", "root"], "must be server"),
      (["--role", "operator-lok"], "did you mean \"operator-look\"?"),
      (["--role", "admin", "--app", "shop"], "--app goes with the role server alone"),
      (["--role", "server", "--app", "a b"], "--app must be"),
      (["--role", "admin", "--name", String(repeating: "x", count: 129)], "--name must be"),
      (["--role", "server"], "--app is missing"), ([], "--role"),
    ] {
      let child = try Pushpool.start(["keys", "create"] + arguments)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 64 && result.error.contains(words), "\(arguments): \(result)")
    }
    let short = try await Pushpool.run("keys", "revoke", "x")
    #expect(short.status == 64 && short.error.contains("is no id of a key"), "\(short)")
    let secret = String(repeating: "A", count: 43)
    let whole = try await Pushpool.run("keys", "revoke", "pp_admin_k7mq2xw5rt3a_\(secret)")
    #expect(whole.status == 64 && whole.error.contains("not the whole key: k7mq2xw5rt3a"))
    #expect(!whole.error.contains(secret))
    #expect(try await Pushpool.run("audit", "--limit", "0").status == 64)
    #expect(try await Pushpool.run("audit", "--before", "x").status == 64)
    #expect(try await Pushpool.run("audit", "--app", "a b").status == 64)
  }

  @Test("what operators do is noted, with who, what and from where; what changed nothing is not")
  func acts() async throws {
    try await RedisServer.with { redis in
      let empty = try await Self.run(redis, "audit")
      #expect(empty.status == 0 && empty.output.isEmpty, "\(empty)")
      let job =
        #"{"id":"sale","app":"shop","audience":{"users":["u1"]},"notification":{"title":"t"}}"#
      try await redis.command("XADD", "pushpool:jobs:normal", "*", "job", job)
      for arguments in [
        ["job", "sale", "pause", "--app", "shop"], ["job", "sale", "pace", "500", "--app", "shop"],
        ["job", "sale", "resume", "--app", "shop"], ["job", "sale", "cancel", "--app", "shop"],
        ["job", "sale", "--app", "shop"], ["switch", "off", "--app", "shop", "--reason", "a test"],
        ["switch", "off", "--app", "shop"], ["switch", "on", "--app", "shop"],
        ["switch", "on", "--app", "shop"],
        ["keys", "create", "--role", "operator-look", "--name", "the hall"],
      ] {
        let child = try Pushpool.start(
          arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0 && !result.error.contains("warning"), "\(arguments): \(result)")
      }
      let all = try await Self.run(redis, "audit", "--json")
      let acts = try all.json
      #expect(
        acts.map { $0["verb"]?.stringValue } == [
          "key.create", "switch.on", "switch.off", "job.cancel", "job.resume", "job.pace",
          "job.pause",
        ], "\(all)")
      #expect(acts[0]["detail"]?.stringValue == "operator-look, the hall")
      #expect(acts[1]["subject"]?.stringValue == "app|shop")
      #expect(acts[2]["detail"]?.stringValue == "a test")
      #expect(acts[5]["detail"]?.stringValue == "500")
      #expect(acts.allSatisfy { $0["from"]?.stringValue == "command line" })
      #expect(acts.allSatisfy { $0["who"]?.stringValue?.contains("@") == true })
      #expect(acts.allSatisfy { ($0["at"]?.int64Value ?? 0) > 1_600_000_000_000 })
      let some = try await Self.run(
        redis, "audit", "--app", "shop", "--verb", "job", "--limit", "2", "--json")
      #expect(
        try some.json.map { $0["verb"]?.stringValue } == ["job.cancel", "job.resume"], "\(some)")
      let older = try #require(some.error.split(separator: " ").last).filter { $0 != "\n" }
      let rest = try await Self.run(
        redis, "audit", "--verb", "job", "--before", String(older), "--json")
      #expect(try rest.json.map { $0["verb"]?.stringValue } == ["job.pace", "job.pause"])
      try await redis.command(
        "XADD", "pushpool:acts", "*", "at", "1790000000000", "verb", "dead.drop", "who", "k7",
        "who_name", "the hall", "from", "192.0.2.1")
      let named = try await Self.run(redis, "audit", "--verb", "dead")
      #expect(named.output.contains("k7 (the hall)"), "\(named)")
      let table = try await Self.run(redis, "audit", "--verb", "switch.off")
      #expect(table.output.contains("a test") && table.output.contains("WHO"))
    }
  }

  @Test("dead letters that were named are noted one by one, and all of them as one act")
  func deadLetters() async throws {
    try await RedisServer.with { redis in
      let job = #"{"app":"shop"}"#
      for number in 1...4 {
        try await redis.command(
          "XADD", "pushpool:dead", "\(number)-0", "kind", "job", "reason", "invalid_job", "app",
          "shop", "id", "sale", "priority", "normal", "job", job)
      }
      // Of those that are named all or none can be meant.
      let elsewhere = try await Self.run(redis, "dead", "drop", "1-0", "eu/2-0")
      #expect(elsewhere.status == 65 && elsewhere.error.contains("eu/2-0: must name a shard"))
      let shown = try await Self.run(redis, "dead", "show", "main/1-0", "--json")
      #expect(try shown.json.first?["entry"]?.stringValue == "1-0")
      #expect(try await Self.run(redis, "dead", "drop", "1-0", "main/2-0").status == 0)
      #expect(try await Self.run(redis, "dead", "drop", "1-0").status == 65)
      #expect(try await Self.run(redis, "dead", "retry", "--all").status == 0)
      let acts = try await Self.run(redis, "audit", "--json").json
      #expect(
        acts.map { "\($0["verb"]?.stringValue ?? "") \($0["subject"]?.stringValue ?? "")" }
          == ["dead.retry ", "dead.drop 2-0", "dead.drop 1-0"])
      #expect(acts.first?["detail"]?.stringValue == "2 letters")
    }
  }

  @Test("a command whose act cannot be noted does its work, and warns once")
  func cannotNote() async throws {
    try await RedisServer.with { redis in
      // The functions, which the user below may not load.
      #expect(try await Self.run(redis, "index", "--app", "shop").status == 0)
      try await redis.command(
        "ACL", "SETUSER", "older", "on", ">p", "~pushpool", "~pushpool:switches", "~pushpool:dead",
        "~pushpool:letter*", "~pushpool:job:*", "~pushpool:guard", "+@all")
      for number in 1...2 {
        try await redis.command(
          "XADD", "pushpool:dead", "\(number)-0", "kind", "job", "reason", "r", "app", "shop")
      }
      let url = "unix://older:p@\(redis.socketPath)"
      for arguments in [
        ["switch", "off", "--app", "shop"], ["switch", "on", "--app", "shop"],
        ["dead", "drop", "1-0", "2-0"],
      ] {
        let child = try Pushpool.start(arguments, environment: ["PUSHPOOL_REDIS_URL": url])
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0, "\(arguments): \(result)")
        let warnings = result.error.split(separator: "\n").filter { $0.hasPrefix("warning: ") }
        #expect(warnings.count == 1 && warnings[0].contains("pushpool audit"), "\(result.error)")
      }
      #expect(try await redis.command("EXISTS", "pushpool:acts").hasPrefix("0"))
    }
  }
}
