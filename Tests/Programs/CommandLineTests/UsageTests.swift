import Glibc
import LocalServices
import Testing
import TestSupport

@Suite struct UsageTests {
  private static let commands = [
    "worker", "check", "doctor", "status", "top", "metrics", "switch", "enqueue", "job", "dead",
    "install",
    "uninstall",
    "devices",
    "import",
    "demo", "trace", "subscribe", "unsubscribe", "topics", "index", "keys", "audit",
  ]

  @Test("every command explains itself with an example", arguments: commands)
  func help(command: String) async throws {
    let result = try await Pushpool.run(command, "--help")
    #expect(result.status == 0)
    #expect(result.output.contains("pushpool \(command)"))
  }

  @Test("a wrong command line is a usage error")
  func usage() async throws {
    #expect(try await Pushpool.run("no-such-command").status == 64)
    #expect(try await Pushpool.run("devices", "--app", "shop").status == 64)
    #expect(try await Pushpool.run("enqueue", "--priority", "urgent").status == 64)
    #expect(try await Pushpool.run("dead", "drop").status == 64)
    #expect(try await Pushpool.run("trace", "--app", "shop").status == 64)
    #expect(
      try await Pushpool.run(
        "trace", "--app", "shop", "--job", "j", "--user", "u", "--token", "abcdef01"
      ).status == 64)
    #expect(
      try await Pushpool.run("trace", "--app", "shop", "--job", "j", "--limit", "0").status == 64)
    #expect(try await Pushpool.run("dead", "show", "first").status == 64)
    #expect(try await Pushpool.run("import", "-", "--resume").status == 64)
    #expect(try await Pushpool.run("subscribe", "--app", "shop", "--topic", "t").status == 64)
    #expect(try await Pushpool.run("subscribe", "in", "--topic", "t").status == 64)
    #expect(
      try await Pushpool.run("unsubscribe", "--app", "a", "--topic", "a b", "--user", "u").status
        == 64)
    #expect(try await Pushpool.run("demo", "--installations", "0").status == 64)
    let url = try await Pushpool.run("status", "--redis", "http://127.0.0.1")
    #expect(url.status == 64)
    #expect(url.error.hasPrefix("pushpool: --redis must begin with redis://, rediss:// or unix://"))
  }

  @Test(
    "the command that was meant is named",
    arguments: [
      (["stat"], "pushpool status"), (["swich", "list"], "pushpool switch"),
      (["dead", "lst"], "pushpool dead list"), (["switch", "of"], "pushpool switch off"),
    ])
  func nearCommand(arguments: [String], name: String) async throws {
    let child = try Pushpool.start(arguments)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.error.contains("did you mean \"\(name)\"?"), "\(result.error)")
    let far = try await Pushpool.run("frobnicate")
    #expect(far.status == 64 && far.error.contains("see: pushpool --help"), "\(far.error)")
  }

  @Test(
    "a completion script is made for each shell, as the page says",
    arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) async throws {
    let script = try await Pushpool.run("--generate-completion-script", shell)
    #expect(script.status == 0 && script.output.contains("pushpool"))
    #expect(
      Document.text("docs/reference/command-line.md").contains(
        "pushpool --generate-completion-script \(shell)"))
  }

  @Test(
    "an empty value is a usage error, whatever it is for",
    arguments: [
      ["status", "--redis", ""], ["status", "--redis="], ["status", "--prefix", ""],
      ["status", "--config", ""], ["worker", "--health-file", ""], ["import", ""],
      ["import", "in", "--position", ""], ["import", "in", "--skip-errors", "--rejects="],
      ["enqueue", ""], ["job", "", "--app", "shop"], ["devices", "--app", "shop", "--user", ""],
      ["switch", "off", "--app", "", "--reason", "x"],
      ["switch", "off", "--app", "a", "--reason="],
      ["switch", "off", "--app", "shop", "--user", ""], ["dead", "list", "--app", ""],
      ["trace", "--app", "shop", "--job", ""],
    ])
  func empty(arguments: [String]) async throws {
    try await RedisServer.with { redis in
      let child = try Pushpool.start(
        arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url])
      let result = try await Pushpool.finish(child)
      #expect(result.status == 64)
      #expect(result.output.isEmpty)
      #expect(result.error.contains("is empty: give it a value, or leave it out"))
      #expect(result.error.split(separator: "\n").count == 1)
    }
  }

  @Test(
    "an empty variable is refused by its name",
    arguments: ["PUSHPOOL_REDIS_URL", "PUSHPOOL_REDIS_PREFIX", "PUSHPOOL_CONFIG"])
  func emptyVariable(name: String) async throws {
    let result = try await Pushpool.run("status", environment: [name: ""])
    #expect(result.status == 78)
    #expect(result.error.contains(name))
    #expect(result.error.contains("is set but empty: give it a value, or unset it"))
  }

  @Test("without Redis a command says where it looked, at once")
  func noRedis() async throws {
    let folder = try TemporaryFolder()
    let url = "unix://\(folder.file("none.sock"))"
    let result = try await Pushpool.run("status", "--redis", url)
    #expect(result.status == 69)
    #expect(result.output.isEmpty)
    #expect(result.error.contains(url))
    #expect(result.error.split(separator: "\n").count == 1)
  }

  @Test("a bad configuration is named by file, line and field")
  func configuration() async throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write("redis: {urll: x}\n", to: folder.file("pushpool.yaml"))
    let named = try await Pushpool.run(
      "worker", "--config", folder.file("pushpool.yaml"))
    #expect(named.status == 78)
    #expect(named.error.contains("pushpool.yaml:1"))
    #expect(named.error.contains("redis.urll"))
    // Found in the folder without being named, and by its variable.
    #expect(try await Pushpool.run("status", folder: folder.path).status == 78)
    let variable = ["PUSHPOOL_CONFIG": folder.file("pushpool.yaml")]
    #expect(try await Pushpool.run("status", environment: variable).status == 78)
  }

  @Test("a worker without apps, or without its keys, does not start")
  func worker() async throws {
    let none = try await Pushpool.run("worker")
    #expect(none.status == 78)
    #expect(none.error.contains("--config"))
    let folder = try TemporaryFolder()
    try PrivateFile.write(
      """
      apps:
        - id: shop
          fcm: {service_account_file: missing.json}

      """, to: folder.file("pushpool.yaml"))
    let keyless = try await Pushpool.run("worker", folder: folder.path)
    #expect(keyless.status == 78)
    #expect(keyless.error.contains("missing.json"))
    #expect(keyless.error.contains("apps[0].fcm.service_account_file"))
  }

  @Test("an app that cannot be one is refused, one that the configuration lacks is a remark")
  func apps() async throws {
    let device = [
      "--user", "u1", "--network", "apns", "--token", String(repeating: "ab", count: 32),
    ]
    for command in [["switch", "off"], ["install"] + device] {
      let child = try Pushpool.start(command + ["--app", "my shop"])
      let refused = try await Pushpool.finish(child)
      #expect(refused.status == 64)
      #expect(refused.error.contains("--app must be 1 to 64 ASCII letters, digits or . _ -"))
    }
    let folder = try TemporaryFolder()
    try PrivateFile.write(
      """
      apps:
        - id: shop
          fcm: {service_account_file: missing.json}

      """, to: folder.file("pushpool.yaml"))
    try await RedisServer.with { redis in
      for command in [["switch", "off"], ["install"] + device] {
        for (app, isNoted) in [("shop", false), ("shpo", true)] {
          let child = try Pushpool.start(
            command + ["--app", app, "--redis", redis.url], folder: folder.path)
          let result = try await Pushpool.finish(child)
          #expect(result.status == 0)
          #expect(result.error.contains("the configuration has no app shpo") == isNoted)
        }
      }
    }
  }

  @Test("a user that cannot be one is refused, not looked for")
  func users() async throws {
    let user = String(repeating: "u", count: 257)
    let token = String(repeating: "ab", count: 32)
    for command in [
      ["devices"], ["switch", "off"], ["uninstall", "--network", "apns", "--token", token],
    ] {
      let child = try Pushpool.start(command + ["--app", "shop", "--user", user])
      let result = try await Pushpool.finish(child)
      #expect(result.status == 64)
      #expect(result.error.contains("--user must"))
    }
  }

  @Test("what is printed goes nowhere else when standard output and error are closed")
  func closed() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let fifo = folder.file("fifo")
      #expect(mkfifo(fifo, 0o600) == 0)
      let child = try ChildProcess(
        "/bin/sh", ["-c", #"exec "$0" "$@" <&- >&- 2>&-"#, Pushpool.path, "import", fifo],
        environment: ["PUSHPOOL_REDIS_URL": redis.url])
      // Can be opened when the program has done so, which it does behind its loop.
      var end = open(fifo, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      while end < 0, child.exit == nil {
        await Task.yield()
        end = open(fifo, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      }
      for descriptor in 0...2 {
        let link = "/proc/\(child.pid)/fd/\(descriptor)"
        var target = [CChar](repeating: 0, count: 256)
        #expect(readlink(link, &target, target.count - 1) > 0)
        #expect(strcmp(target, "/dev/null") == 0)
      }
      close(end)
      #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) != nil)
    }
  }

  @Test("too little memory is named as what is missing")
  func memory() async throws {
    var named = 0
    // From too little to load the program to enough for it, whatever its size: some 30 MB lie between.
    for megabytes in stride(from: 40, to: 400, by: 4) {
      let child = try Pushpool.start(
        ["status", "--redis", "unix:///none"],
        behind: ["/bin/bash", "-c", #"ulimit -v \#(megabytes * 1_024); exec "$0" "$@""#])
      let result = try await Pushpool.finish(child)
      if result.status == 69 { break }
      guard result.error.hasPrefix("pushpool: ") else { continue }
      #expect(result.error.contains("ulimit -v"), "\(megabytes): \(result.error)")
      named += 1
    }
    #expect(named > 0)
  }

  @Test("a bad job is refused before Redis is asked, by its field")
  func badJob() async throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write(
      #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"titel": "x"}}"#,
      to: folder.file("job.json"))
    try PrivateFile.write(#"{"app": "shop", "aps": {"alert": "x"}}"#, to: folder.file("aps.json"))
    let aps = try await Pushpool.run("enqueue", folder.file("aps.json"))
    #expect(
      aps.error.contains(#"/aps: is not a known field; did you mean "apns"?"#), "\(aps.error)")
    let result = try await Pushpool.run("enqueue", folder.file("job.json"))
    #expect(result.status == 65)
    #expect(result.error.contains("/notification/titel"))
    #expect(result.error.contains("\"title\""))
    let missing = try await Pushpool.run("enqueue", folder.file("none.json"))
    #expect(missing.status == 65)
    #expect(missing.error.contains("none.json"))
  }
}
