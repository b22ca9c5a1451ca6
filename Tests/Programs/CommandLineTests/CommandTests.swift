import LocalServices
import Model
import Testing

/// Commands against a real Redis.
@Suite struct CommandTests {
  private static let token = String(repeating: "ab", count: 32)

  @Test("an installed device is listed, moves to a new user and goes when its owner says so")
  func installations() async throws {
    try await RedisServer.with { redis in
      let at = ["PUSHPOOL_REDIS_URL": redis.url]
      func install(_ user: String, _ more: String...) async throws -> Pushpool.Result {
        let child = try Pushpool.start(
          ["install", "--app", "shop", "--user", user, "--network", "apns", "--token", Self.token]
            + more, environment: at)
        return try await Pushpool.finish(child)
      }
      #expect(try await install("u1", "--language", "de").output.hasPrefix("created"))
      let moved = try await install("u2", "--json")
      #expect(moved.status == 0)
      #expect(try moved.json.first?["status"]?.stringValue == "moved")
      #expect(try moved.json.first?["previous_user"]?.stringValue == "u1")
      let strict = try await install("u3", "--strict")
      #expect(strict.status == 65)
      #expect(strict.error.contains("u2"))

      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u2", "--json", environment: at)
      #expect(try devices.json.first?["token"]?.stringValue == Self.token)
      let table = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u2", environment: at)
      #expect(table.output.contains(Self.token))
      #expect(!table.output.contains("\u{1B}"))
      let none = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u1", environment: at)
      #expect(none.status == 0)
      #expect(none.output.isEmpty)

      func badge(_ number: String, _ more: String...) async throws -> Pushpool.Result {
        let child = try Pushpool.start(
          ["badge", number, "--app", "shop"] + more, environment: at)
        return try await Pushpool.finish(child)
      }
      #expect(try await badge("3", "--user", "u2").output.contains("of 1 device is 3 now"))
      #expect(try await install("u2", "--badge", "5").status == 0)
      let shown = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u2", "--json", environment: at)
      #expect(try shown.json.first?["badge"]?.int64Value == 5)
      #expect(try await badge("0", "--user", "u1").error.contains("nothing was set"))
      #expect(try await badge("x", "--user", "u2").status == 64)
      #expect(try await badge("0", "--user", "u2", "--network", "apns").status == 64)

      func uninstall(_ user: String) async throws -> String {
        try await Pushpool.run(
          "uninstall", "--app", "shop", "--user", user, "--network", "apns", "--token",
          Self.token, "--json", environment: at
        ).output
      }
      #expect(try await uninstall("u1").contains("other_owner"))
      #expect(try await uninstall("u2").contains("removed"))
      #expect(try await uninstall("u2").contains("absent"))
    }
  }

  @Test("the status shows the alarms that stand, and none that is over")
  func alarms() async throws {
    try await RedisServer.with { redis in
      for (field, untilMs) in [("breaker|shop|apns|production", 4_000_000_000_000), ("old", 2)] {
        let writer = try ChildProcess(
          "redis-cli",
          [
            "-s", redis.socketPath, "HSET", "pushpool:alarms", field,
            #"{"at":1,"until":\#(untilMs),"by":"w","message":"APNs of \#(field) is in trouble"}"#,
          ], output: .discard)
        #expect(await writer.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
      }
      let screen = try await Pushpool.run("status", "--redis", redis.url)
      #expect(screen.output.contains(": APNs of breaker|shop|apns|production is in trouble"))
      #expect(!screen.output.contains("old"))
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      let alarms = try #require(try status.json.first?["alarms"]?.arrayValue)
      #expect(alarms.count == 1)
      #expect(
        alarms.first?.objectValue?["alarm"]?.stringValue == "breaker|shop|apns|production")
      #expect(alarms.first?.objectValue?["since"]?.int64Value == 1)
    }
  }

  @Test("the status tells of a key of the work that something has overwritten, and shows the rest")
  func wrongTypes() async throws {
    try await RedisServer.with { redis in
      let keys = [
        "jobs:normal", "ready:normal", "chunks:high", "chunks:normal", "chunks:low", "delayed",
        "finished", "open", "dead",
      ]
      for key in keys {
        let writer = try ChildProcess(
          "redis-cli", ["-s", redis.socketPath, "SET", "pushpool:\(key)", "wrong"],
          output: .discard)
        #expect(await writer.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
      }
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      #expect(status.status == 0, "\(status)")
      let alarms = try #require(try status.json.first?["alarms"]?.arrayValue)
      #expect(
        Set(alarms.compactMap { $0.objectValue?["alarm"]?.stringValue })
          == Set(keys.map { "wrong_type|\($0)" }))
      #expect(try await Pushpool.run("status", "--redis", redis.url).status == 0)
    }
  }

  @Test("a file with an error stops nobody who looks or acts, and does stop who adds something")
  func brokenFile() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let file = folder.file("pushpool.yaml")
      let text = "redis:\n  url: \(redis.url)\n  prefix: own\nworker:\n  lane: 2\n"
      try TextFile.write(text, to: file)
      let at = ["PUSHPOOL_CONFIG": file]
      let switched = try await Pushpool.run("switch", "off", "--app", "shop", environment: at)
      #expect(switched.status == 0, "\(switched)")
      let warning = "worker.lane: is not a known field"
      #expect(switched.error.contains(warning) && switched.error.contains("goes on with"))
      for command in [["status"], ["jobs"], ["dead", "list"], ["switch", "list"]] {
        let child = try Pushpool.start(command, environment: at)
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0 && result.error.contains(warning), "\(command): \(result)")
      }
      // It has the prefix of the file.
      let list = try await Pushpool.run("switch", "list", "--json", environment: at)
      #expect(list.output.contains("shop"))
      let installed = try await Pushpool.run(
        "install", "--app", "shop", "--user", "u", "--network", "apns", "--token", Self.token,
        environment: at)
      #expect(installed.status == 78)
      // Where Redis is must be certain.
      try TextFile.write("redis:\n  ur: x\n", to: file)
      #expect(try await Pushpool.run("status", environment: at).status == 78)
    }
  }

  @Test("a bad value of install is refused by its option")
  func badInstall() async throws {
    let result = try await Pushpool.run(
      "install", "--app", "shop", "--user", "u", "--network", "apns", "--token", "xyz0xyz0")
    #expect(result.status == 65)
    #expect(result.error.hasPrefix("pushpool: --token "))
    // A token is as good as an address.
    #expect(!result.error.contains("xyz0xyz0"))
  }

  @Test("a placeholder that nothing fills in is pointed out, and the job is added all the same")
  func unfilled() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let file = folder.file("job.json")
      for (more, warns) in [("", true), (#","variables":{}"#, false)] {
        try PrivateFile.write(
          #"{"app":"shop","audience":{"users":["u1"]},"notification":{"title":"Hi {{name}}"}\#(more)}"#,
          to: file)
        let result = try await Pushpool.run("enqueue", file, "--redis", redis.url)
        #expect(result.status == 0 && !result.output.isEmpty)
        #expect(result.error.contains("{{name}}") == warns, "\(result.error)")
      }
    }
  }

  @Test("an enqueued job is in its stream and counts as backlog")
  func enqueue() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(
        #"{"id":"sale","app":"shop","audience":{"users":["u1"]},"notification":{"body":"x"}}"#,
        to: folder.file("job.json"))
      let job = folder.file("job.json")
      let plain = try await Pushpool.run("enqueue", job, "--redis", redis.url)
      #expect(plain.status == 0)
      #expect(plain.output == "sale\n")
      let high = try await Pushpool.run(
        "enqueue", job, "--priority", "high", "--json", "--redis", redis.url)
      #expect(try high.json.first?["priority"]?.stringValue == "high")
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      let backlog = try #require(try status.json.first?["backlog"]?.objectValue)
      #expect(backlog["high"]?.objectValue?["jobs"]?.int64Value == 1)
      #expect(backlog["normal"]?.objectValue?["jobs"]?.int64Value == 1)
      let other = try await Pushpool.run(
        "status", "--json", "--redis", redis.url, "--prefix", "other")
      #expect(
        try other.json.first?["backlog"]?.objectValue?["high"]?.objectValue?["jobs"]?.int64Value
          == 0)
      let screen = try await Pushpool.run("status", "--redis", redis.url)
      #expect(screen.output.contains("nobody sends"))
    }
  }

  @Test("status --check ends with 1 while there is an alarm, and shows the same")
  func check() async throws {
    try await RedisServer.with { redis in
      let quiet = try await Pushpool.run("status", "--check", "--redis", redis.url)
      #expect(quiet.status == 0, "\(quiet.error)")
      let child = try ChildProcess(
        "redis-cli",
        [
          "-s", redis.socketPath, "HSET", "pushpool:alarms", "clock|w1",
          #"{"at":1,"until":9000000000000,"by":"x","message":"m"}"#,
        ], output: .discard)
      #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
      let alarmed = try await Pushpool.run("status", "--check", "--json", "--redis", redis.url)
      #expect(alarmed.status == 1)
      #expect(alarmed.error == "pushpool: 1 alarm: clock|w1\n")
      #expect(try alarmed.json.first?["alarms"]?.arrayValue?.count == 1)
      #expect(try await Pushpool.run("status", "--redis", redis.url).status == 0)
    }
  }

  @Test("a Ctrl-C leaves a waiting job in the queue and says so")
  func interruptedWait() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(
        #"{"id":"sale","app":"shop","audience":{"users":["u1"]},"notification":{"body":"x"}}"#,
        to: folder.file("job.json"))
      let child = try Pushpool.start(
        ["enqueue", folder.file("job.json"), "--wait", "--redis", redis.url])
      let enqueued = await child.standardError?.nextLine(
        containing: "is enqueued", timeoutMs: Pushpool.timeoutMs)
      #expect(enqueued != nil)
      child.signal(2)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 130)
      #expect(result.error.contains("pushpool job sale --app shop"))
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      let normal = try status.json.first?["backlog"]?.objectValue?["normal"]?.objectValue
      #expect(normal?["jobs"]?.int64Value == 1)
    }
  }

  @Test(
    "a job that waits is shown and stopped by its id, whoever gave it, and refused if it is none")
  func waitingJob() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let rest = #""app":"shop","audience":{"users":["u1","u2"]},"notification":{"body":"x"}"#
      func enqueue(_ text: String, _ priority: String = "normal") async throws -> String {
        try PrivateFile.write(text, to: folder.file("job.json"))
        let result = try await Pushpool.run(
          "enqueue", folder.file("job.json"), "--priority", priority, "--no-check", "--redis",
          redis.url)
        return String(result.output.dropLast())
      }
      func job(_ id: String, _ action: String, app: String = "shop") async throws -> Pushpool.Result
      {
        try await Pushpool.run("job", id, action, "--app", app, "--json", "--redis", redis.url)
      }
      func state(_ result: Pushpool.Result) throws -> String? {
        try result.json.first?["state"]?.stringValue
      }
      let given = try await enqueue("{\(rest)}", "low")
      #expect(given.hasPrefix("l"))
      #expect(try await enqueue(#"{"id":"sale",\#(rest)}"#) == "sale")
      #expect(try await enqueue(#"{"id":"bad",\#(rest),"x":1}"#) == "bad")

      for id in [given, "sale"] {
        let shown = try await job(id, "show")
        #expect(shown.status == 0)
        #expect(try state(shown) == "queued")
        #expect(try shown.json.first?["total"]?.int64Value == 2)
        #expect(try shown.json.first?["admitted"]?.boolValue == false)
        #expect(try await job(id, "cancel", app: "other").status == 65)
        #expect(try state(await job(id, "resume")) == "queued")
        #expect(try state(await job(id, "pause")) == "paused")
        #expect(try state(await job(id, "resume")) == "queued")
        let cancelled = try await job(id, "cancel")
        #expect(cancelled.status == 0)
        #expect(try state(cancelled) == "cancelled")
        #expect(try await job(id, "pause").status == 65)
      }
      let screen = try await Pushpool.run("job", "sale", "--app", "shop", "--redis", redis.url)
      #expect(screen.output.contains("no worker has taken it in yet"))
      let bad = try await job("bad", "cancel")
      #expect(bad.status == 65)
      #expect(bad.error.contains("nothing of it will be sent") && bad.error.contains("/x"))
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      let backlog = try status.json.first?["backlog"]?.objectValue
      #expect(backlog?["normal"]?.objectValue?["jobs"]?.int64Value == 2)
    }
  }

  @Test("an unknown job is bad input")
  func unknownJob() async throws {
    try await RedisServer.with { redis in
      for action in ["show", "cancel", "pause", "resume"] {
        let result = try await Pushpool.run(
          "job", "none", action, "--app", "shop", "--redis", redis.url)
        #expect(result.status == 65)
      }
      let trace = try await Pushpool.run(
        "trace", "--job", "none", "--app", "shop", "--user", "u1", "--redis", redis.url)
      #expect(trace.status == 65)
      #expect(trace.error.contains("there is no job none of shop"))
    }
  }

  @Test("a trace is refused a token that no network gives, without repeating it, and needs Redis")
  func badTrace() async throws {
    let bad = try await Pushpool.run("trace", "--job", "j", "--app", "shop", "--token", "no token")
    #expect(bad.status == 65)
    #expect(bad.error.hasPrefix("pushpool: --token "))
    #expect(!bad.error.contains("no token"))
    let folder = try TemporaryFolder()
    let none = try await Pushpool.run(
      "trace", "--job", "j", "--app", "shop", "--redis", "unix://\(folder.file("none.sock"))")
    #expect(none.status == 69)
  }
}
