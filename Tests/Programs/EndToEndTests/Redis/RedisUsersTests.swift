import Glibc
import LocalServices
import Model
import Redis
import Store
import Testing

/// The rights that docs/reference/redis.md says are enough, for each part of the program, and no more.
@Suite struct RedisUsersTests {
  private struct User {
    let name: String
    let password: String
    let line: String

    func url(_ redis: RedisServer) -> String { "unix://\(name):\(password)@\(redis.socketPath)" }
  }

  /// The lines of the document.
  private static func users() throws -> [String: User] {
    let file = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
    let text = try #require(TextFile.read("/\(file)/docs/reference/redis.md", bytesMax: 1 << 20))
    var users: [String: User] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("user pushpool-") {
      let words = line.split(separator: " ").map { String($0) }
      let password = try #require(words.first { $0.hasPrefix(">") })
      users[words[1]] = User(
        name: words[1], password: String(password.dropFirst()), line: String(line))
    }
    #expect(users.count == 7)
    return users
  }

  /// As another program's client.
  private static func redis(
    _ words: [String], as user: User, _ redis: RedisServer
  ) async throws -> (isRefused: Bool, output: String) {
    let child = try ChildProcess(
      "redis-cli",
      [
        "-e", "-s", redis.socketPath, "--user", user.name, "--pass", user.password,
        "--no-auth-warning",
      ] + words, output: .pipe, error: .pipe)
    let exit = await child.waitForExit(timeoutMs: 30_000)
    let output = await child.standardOutput?.rest(timeoutMs: 10_000) ?? ""
    let error = await child.standardError?.rest(timeoutMs: 10_000) ?? ""
    return (exit != .code(0), output + error)
  }

  private static func run(
    _ arguments: [String], as user: User, _ stage: PushStage, input: String? = nil
  ) async throws -> (code: ChildProcess.Exit?, output: String, error: String) {
    var arguments = arguments
    if let input {
      let file = stage.folder.file("input.json")
      let stream = try #require(fopen(file, "we"))
      fputs(input, stream)
      fclose(stream)
      arguments.append(file)
    }
    let child = try ChildProcess(
      PushStage.programFolder + "/pushpool", arguments,
      environment: ["PATH": "/usr/bin:/bin", "PUSHPOOL_REDIS_URL": user.url(stage.redis)],
      folder: "/", output: .pipe, error: .pipe)
    let exit = await child.waitForExit(timeoutMs: 60_000)
    return (
      exit, await child.standardOutput?.rest(timeoutMs: 10_000) ?? "",
      await child.standardError?.rest(timeoutMs: 10_000) ?? ""
    )
  }

  @Test(
    "a campaign, the commands and a dashboard work with the documented rights, and with no other")
  func documentedRights() async throws {
    let users = try Self.users()
    let worker = try #require(users["pushpool-worker"])
    let operating = try #require(users["pushpool-operator"])
    let server = try #require(users["pushpool-server"])
    let producer = try #require(users["pushpool-producer"])
    let dashboard = try #require(users["pushpool-dashboard"])
    let registrar = try #require(users["pushpool-registrar"])
    let reader = try #require(users["pushpool-reader"])
    try await PushStage.with { stage in
      for user in users.values {
        let rules = user.line.split(separator: " ").dropFirst().map { String($0) }
        _ = try await stage.client.command(words: ["ACL", "SETUSER"] + rules)
      }
      let bindings = try Devices.apns(0..<50).map { $0.json().text() }.joined(separator: "\n")
      let imported = try await Self.run(["import"], as: operating, stage, input: bindings + "\n")
      #expect(imported.code == .code(0), "\(imported)")

      let process = try stage.startProcess(redis: worker.url(stage.redis))
      // As a backend does it: a key of users, the job, and its record.
      let names = try Devices.apns(0..<50).map(\.user)
      func backend(_ words: String...) async throws {
        let reply = try await Self.redis(words, as: producer, stage.redis)
        #expect(!reply.isRefused, "\(words): \(reply.output)")
      }
      for name in names { try await backend("SADD", "segment:all", name) }
      for (id, audience) in [
        ("listed", "{\"users\": [\"\(names[0])\", \"\(names[1])\"]}"),
        ("keyed", "{\"users_key\": \"segment:all\"}"),
      ] {
        let job =
          "{\"id\": \"\(id)\", \"app\": \"shop\", \"audience\": \(audience), "
          + "\"notification\": {\"title\": \"t\"}, \"trace\": true}"
        try await backend("XADD", "pushpool:jobs:normal", "*", "job", job)
        let record = try await stage.client.finished(id)
        try await backend("HGETALL", "pushpool:job:shop:\(id)")
        #expect(record.counts.accepted == (id == "keyed" ? 50 : 2), "\(id): \(record)")
      }
      let submitted =
        #"{"id":"submitted","app":"shop","audience":{"users":["\#(names[0])"]},"notification":{"title":"t"}}"#
      for status in ["created", "replayed"] {
        let reply = try await Self.redis(
          [
            "FCALL", "pushpool_submit", "2", "pushpool", "pushpool:guard", "normal", submitted,
          ], as: producer, stage.redis)
        #expect(!reply.isRefused && reply.output.contains(status), "\(reply)")
        #expect(try await stage.client.finished("submitted").counts.accepted == 1)
      }
      let subscribed = try await Self.run(
        ["subscribe"], as: operating, stage,
        input: names.map { #"{"app":"shop","topic":"news","user":"\#($0)"}"# }
          .joined(separator: "\n"))
      #expect(subscribed.code == .code(0), "\(subscribed)")
      for (id, audience) in [("news", #"{"topic": "news"}"#), ("everybody", #"{"all": true}"#)] {
        try await backend(
          "XADD", "pushpool:jobs:normal", "*", "job",
          "{\"id\": \"\(id)\", \"app\": \"shop\", \"audience\": \(audience), "
            + "\"notification\": {\"title\": \"t\"}}")
        #expect(try await stage.client.finished(id).counts.accepted == 50)
      }
      try await backend("HSET", "values:all", names[0], "{\"name\": \"Ann\"}")
      try await backend("HSET", "values:old", names[0], "{}")
      try await backend("EXPIRE", "values:old", "60")
      try await backend("DEL", "values:old")
      _ = try await stage.client.command("HSET", "secret", names[0], "{\"name\": \"Ann\"}")
      for (id, key) in [("unreadable", "secret"), ("filled", "values:all")] {
        try await backend(
          "XADD", "pushpool:jobs:normal", "*", "job",
          "{\"id\": \"\(id)\", \"app\": \"shop\", \"audience\": {\"users\": [\"\(names[0])\"]}, "
            + "\"notification\": {\"title\": \"{{name}}\"}, \"variables_key\": \"\(key)\"}")
      }
      #expect(try await stage.client.finished("filled").counts.accepted == 1)
      let letter = try await eventually("a key that may not be read is refused") {
        try await stage.client.entries("dead").first
      }
      #expect(letter["field"] == "/variables_key")
      #expect(letter["message"]?.contains("may not be read by the workers") == true, "\(letter)")
      try await backend("XADD", "pushpool:jobs:normal", "*", "job", "{}")
      _ = try await eventually("the bad job is a dead letter") {
        try await stage.client.command("XLEN", "pushpool:dead").integer == 2 ? true : nil
      }

      for (arguments, input) in try Self.commands(names[0], stage.writeConfiguration()) {
        let result = try await Self.run(arguments, as: operating, stage, input: input)
        #expect(result.code == .code(0), "\(arguments): \(result)")
        // Each act is noted.
        #expect(!result.error.contains("cannot be noted"), "\(arguments): \(result)")
      }
      for arguments in Self.served {
        let result = try await Self.run(arguments, as: server, stage)
        #expect(result.code == .code(0), "\(arguments): \(result)")
        #expect(!result.error.contains("cannot be noted"), "\(arguments): \(result)")
      }
      for arguments in Self.looks {
        for user in [dashboard, reader] {
          let result = try await Self.run(arguments, as: user, stage)
          #expect(result.code == .code(0), "\(user.name): \(arguments): \(result)")
          #expect(!result.output.contains("cannot be read"), "\(user.name): \(result)")
        }
      }
      for arguments in Self.readings(names[0], try stage.writeConfiguration()) {
        let result = try await Self.run(
          arguments, as: reader, stage,
          input: arguments[0] == "enqueue" ? Devices.job("preview", 0..<1) : nil)
        #expect(result.code == .code(0), "\(arguments): \(result)")
        let refused = try await Self.run(
          arguments, as: dashboard, stage,
          input: arguments[0] == "enqueue" ? Devices.job("preview", 0..<1) : nil)
        #expect(refused.code == .code(69), "\(arguments): \(refused)")
        #expect(refused.error.contains("pushpool-reader has it"), "\(arguments): \(refused)")
      }
      let looked = try await Self.redis(
        [
          "FCALL_RO", "pushpool_devices", "2", "pushpool", "pushpool:guard",
          #"{"app":"shop","user":"\#(names[0])"}"#,
        ], as: reader, stage.redis)
      #expect(!looked.isRefused && looked.output.contains("token"), "\(looked)")
      let handed = try await Self.run(
        ["enqueue"], as: producer, stage, input: Devices.job("handed", 0..<1))
      #expect(handed.code == .code(0), "\(handed)")
      for (arguments, rule) in [
        (["switch", "off", "--app", "shop"], "+function|load"), (["enqueue"], "+xadd"),
      ] {
        let refused = try await Self.run(
          arguments, as: reader, stage,
          input: arguments == ["enqueue"] ? Devices.job("none", 0..<1) : nil)
        #expect(refused.code == .code(69), "\(arguments): \(refused)")
        #expect(refused.error.contains("the right \(rule) is missing"), "\(refused)")
        #expect(refused.error.contains("the documented user pushpool-"), "\(refused)")
        #expect(!refused.error.contains("start it"), "\(refused)")
      }

      let exported = try await Self.run(["export"], as: registrar, stage)
      #expect(exported.code == .code(69), "\(exported)")
      #expect(
        exported.error.contains(
          "right +scan is missing: the documented user pushpool-reader has it"), "\(exported)")

      try await expectApps(operating, stage)
      try await expectRegistration(registrar, stage)
      try await expectRefusals(worker, operating, producer, dashboard, registrar, reader, stage)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }

  /// What those may do who look at the fleet.
  private static let looks = [
    ["status"], ["status", "--json"], ["top"], ["metrics"], ["jobs"],
    ["job", "listed", "--app", "shop"],
    ["trace", "--app", "shop", "--job", "listed"], ["topics", "--app", "shop"],
    ["channels", "--app", "shop"], ["dead", "list"], ["switch", "list"],
    ["audit", "--app", "other"],
  ]

  /// What the server does, by the commands that do the same.
  private static let served = [
    ["install", "--app", "shop", "--user", "served", "--network", "apns", "--token", "abababab"],
    ["devices", "--app", "shop", "--user", "served"],
    ["uninstall", "--app", "shop", "--network", "apns", "--token", "abababab"],
    ["switch", "off", "--app", "other"], ["switch", "on", "--app", "other"],
    ["dead", "list"], ["keys", "create", "--role", "operator-look"], ["keys", "list"],
    ["status"], ["audit"],
  ]

  /// What a user may do besides who may read everything.
  private static func readings(_ user: String, _ configuration: String) -> [[String]] {
    [
      ["trace", "--app", "shop", "--job", "listed", "--user", user],
      ["devices", "--app", "shop", "--user", user], ["export"],
      ["enqueue", "--dry-run", "--user", user, "--config", configuration],
    ]
  }

  private static func commands(
    _ user: String, _ configuration: String
  ) -> [([String], String?)] {
    let token = String(repeating: "ab", count: 32)
    let job =
      "{\"app\": \"shop\", \"audience\": {\"users\": [\"\(user)\"]}, \"notification\": {\"title\": \"t\"}}"
    let filled =
      "{\"app\": \"shop\", \"audience\": {\"users\": [\"\(user)\"]}, "
      + "\"notification\": {\"title\": \"{{name}}\"}, \"variables_key\": \"values:all\"}"
    return [
      (["status"], nil), (["jobs"], nil), (["job", "listed", "--app", "shop"], nil),
      (["trace", "--app", "shop", "--job", "listed", "--user", user], nil),
      (["devices", "--app", "shop", "--user", user], nil),
      (["badge", "0", "--app", "shop", "--user", user], nil),
      (
        ["install", "--app", "shop", "--user", "new", "--network", "apns", "--token", token], nil
      ),
      (["uninstall", "--app", "shop", "--network", "apns", "--token", token], nil),
      (["switch", "off", "--app", "other"], nil), (["switch", "list"], nil),
      (["switch", "on", "--app", "other"], nil), (["enqueue", "--wait"], job),
      (["enqueue", "--dry-run", "--user", user, "--config", configuration], filled),
      (["subscribe", "--app", "shop", "--topic", "t", "--user", user], nil),
      (["topics", "--app", "shop"], nil), (["channels", "--app", "shop"], nil), (["export"], nil),
      (["index", "--app", "shop"], nil),
      (["unsubscribe", "--app", "shop", "--topic", "t", "--user", user], nil),
      (["dead", "list"], nil), (["dead", "drop", "--all"], nil),
      (["keys", "create", "--role", "admin"], nil), (["keys", "list"], nil), (["audit"], nil),
    ]
  }

  /// An operator adds an app to Redis, and does all else with it.
  private func expectApps(_ operating: User, _ stage: PushStage) async throws {
    let key = stage.folder.file("apps.key")
    try PrivateFile.write(SealingKey.random().fileText, to: key)
    let configuration = stage.folder.file("apps.yaml")
    try PrivateFile.write("apps_in_redis: {key_files: [\(key)]}\n", to: configuration)
    let app = stage.folder.file("tenant.yaml")
    try PrivateFile.write("id: tenant\njpush: {app_key: abc, master_secret: hidden}\n", to: app)
    for arguments in [
      ["add", app], ["list"], ["show", "tenant"], ["set", app], ["reseal"], ["remove", "tenant"],
      ["set", app, "--or-add"],
    ] {
      let result = try await Self.run(
        ["app"] + arguments + ["--config", configuration], as: operating, stage)
      #expect(result.code == .code(0), "\(arguments): \(result)")
      #expect(!result.error.contains("cannot be noted"), "\(arguments): \(result)")
    }
  }

  /// A backend registers devices: the first of a user, one that moves there, and more than a user may have.
  private func expectRegistration(_ registrar: User, _ stage: PushStage) async throws {
    func register(_ function: String, _ document: String) async throws -> String {
      let name = "pushpool_\(function)"
      let reply = try await Self.redis(
        [
          function == "devices" ? "FCALL_RO" : "FCALL", name, "2", "pushpool", "pushpool:guard",
          document,
        ], as: registrar, stage.redis)
      #expect(!reply.isRefused, "\(document): \(reply.output)")
      return reply.output
    }
    func device(_ user: String, _ number: Int, _ more: String = "") -> String {
      #"{"app":"shop","user":"\#(user)","network":"apns","token":"cdcd\#(1_000 + number)"\#(more)}"#
    }
    #expect(
      try await register("create", device("r1", 0, #","kind":"voip""#)).contains("created"))
    #expect(try await register("create", device("r2", 0)).contains("conflict"))
    #expect(try await register("install", device("r2", 0)).contains("moved"))
    for number in 0...Limits.installationsPerUserMax {
      let answer = try await register("install", device("r2", number, #","badge":1"#))
      #expect(answer.contains(number == 0 ? "updated" : "created"))
    }
    let devices = try await register("devices", #"{"app":"shop","user":"r2"}"#)
    #expect(devices.count { $0 == "{" } == Limits.installationsPerUserMax)
    // As many as make a block split, and join again.
    for function in ["subscribe", "unsubscribe"] {
      for number in 0..<200 {
        let document = #"{"app":"shop","topic":"t","user":"r\#(number)"}"#
        #expect(try await register(function, document).contains("subscribed"))
      }
    }
    let answer = try await register(
      "uninstall", #"{"app":"shop","network":"apns","token":"cdcd1001","user":"r2"}"#)
    #expect(answer.contains("removed"))
    #expect(try await stage.client.command("ZCARD", "pushpool:unbound").integer == 3)
  }

  private func expectRefusals(
    _ worker: User, _ operating: User, _ producer: User, _ dashboard: User, _ registrar: User,
    _ reader: User, _ stage: PushStage
  ) async throws {
    let refused: [(User, [String])] = [
      (worker, ["FUNCTION", "FLUSH"]), (worker, ["FUNCTION", "RESTORE", "x"]),
      (worker, ["EVAL", "return 1", "0"]),
      (operating, ["FUNCTION", "FLUSH"]), (operating, ["FUNCTION", "DELETE", "x"]),
      (operating, ["FUNCTION", "RESTORE", "x"]), (operating, ["EVAL", "return 1", "0"]),
      (producer, ["FUNCTION", "FLUSH"]), (dashboard, ["FUNCTION", "FLUSH"]),
      (reader, ["FUNCTION", "FLUSH"]), (reader, ["HGETALL", "pushpool:keys"]),
      (dashboard, ["HGETALL", "pushpool:keys"]), (registrar, ["HGETALL", "pushpool:keys"]),
      (producer, ["HSET", "pushpool:keys", "a", "b"]),
      (reader, ["HGETALL", "pushpool:apps"]), (dashboard, ["HGET", "pushpool:apps", "tenant"]),
      (registrar, ["HGETALL", "pushpool:apps"]), (producer, ["HSET", "pushpool:apps", "a", "b"]),
      (dashboard, ["XRANGE", "pushpool:app_changes", "-", "+"]),
      (reader, ["XADD", "pushpool:acts", "*", "verb", "job.cancel"]),
      (dashboard, ["SCAN", "0"]), (dashboard, ["RANDOMKEY"]),
      (worker, ["FLUSHALL"]), (worker, ["SET", "other", "1"]),
      (worker, ["SADD", "segment:x", "u"]),
      (worker, ["CONFIG", "GET", "*"]), (worker, ["KEYS", "*"]), (operating, ["FLUSHDB"]),
      (operating, ["GET", "other"]), (operating, ["SMEMBERS", "segment:all"]),
      (producer, ["XRANGE", "pushpool:jobs:normal", "-", "+"]),
      (producer, ["HGETALL", "pushpool:switches"]), (producer, ["DEL", "pushpool:job:shop:keyed"]),
      (reader, ["XADD", "pushpool:jobs:normal", "*", "job", "{}"]), (reader, ["KEYS", "*"]),
      (reader, ["GET", "pushpool:credential:apns:DEF123GHIJ:ABC123DEFG"]),
      (reader, ["FCALL", "pushpool_install", "1", "pushpool", "{}"]),
      (producer, ["DEL", "pushpool:jobs:normal"]),
      (producer, ["EXPIRE", "pushpool:jobs:normal", "1"]),
      (producer, ["XTRIM", "pushpool:jobs:normal", "MAXLEN", "0"]),
      (producer, ["HGETALL", "values:all"]), (producer, ["XADD", "segment:x", "*", "a", "b"]),
      (dashboard, ["XADD", "pushpool:jobs:normal", "*", "job", "{}"]),
      (dashboard, ["GET", "pushpool:credential:apns:DEF123GHIJ:ABC123DEFG"]),
      (dashboard, ["GET", "pushpool:user:shop:u0"]), (dashboard, ["KEYS", "*"]),
      (registrar, ["XADD", "pushpool:jobs:normal", "*", "job", "{}"]),
      (registrar, ["HGETALL", "pushpool:switches"]),
      (registrar, ["XTRIM", "pushpool:audit", "MAXLEN", "0"]),
      (registrar, ["DEL", "pushpool:job:shop:keyed"]), (registrar, ["FUNCTION", "FLUSH"]),
    ]
    for (user, words) in refused {
      let reply = try await Self.redis(words, as: user, stage.redis)
      #expect(
        reply.isRefused && reply.output.contains("NOPERM"), "\(user.name): \(words): \(reply)")
    }
  }
}
