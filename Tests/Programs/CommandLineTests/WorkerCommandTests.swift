import Foundation
import Glibc
import LocalServices
import Model
import Testing

@Suite struct WorkerCommandTests {
  private func configuration(_ folder: TemporaryFolder, redis: String) throws -> String {
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    let file = folder.file("pushpool.yaml")
    try PrivateFile.write(
      """
      redis: {url: \(redis)}
      worker: {lanes: 1, lease_seconds: 1, drain_seconds: 1}
      apps:
        - id: shop
          fcm: {service_account_file: \(account.file)}

      """, to: file)
    return file
  }

  @Test("a worker without Redis keeps trying, says so in JSON, and ends on SIGTERM")
  func withoutRedis() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("none.sock")
    let file = try configuration(folder, redis: "unix://\(socket)")
    let child = try Pushpool.start(["worker", "--config", file])
    let line = try #require(
      await child.standardError?.nextLine(containing: socket, timeoutMs: Pushpool.timeoutMs))
    let record = try #require(JSONParser().parse(line).objectValue)
    #expect(record["level"]?.stringValue != nil)
    #expect(child.exit == nil)
    child.signal(SIGTERM)
    #expect(try await Pushpool.finish(child).status == 0)
  }

  @Test("a running worker is on the status screen and healthy, and after SIGTERM neither")
  func status() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let file = try configuration(folder, redis: redis.url)
      let health = folder.file("health")
      let child = try Pushpool.start(["worker", "--config", file, "--health-file", health])
      func workers() async throws -> Int {
        let result = try await Pushpool.run("status", "--json", "--redis", redis.url)
        return try result.json.first?["workers"]?.arrayValue?.count ?? 0
      }
      let deadline = ContinuousClock.now + .milliseconds(Pushpool.timeoutMs)
      while try await workers() == 0, ContinuousClock.now < deadline {}
      let screen = try await Pushpool.run("status", "--redis", redis.url)
      #expect(screen.output.contains("Workers: 1 at work"))
      while try Self.content(of: health) != "ready\n", ContinuousClock.now < deadline {}
      #expect(try Self.content(of: health) == "ready\n")
      child.signal(SIGTERM)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 0, "\(result.error)")
      #expect(try await workers() == 0)
      #expect(try Self.content(of: health) == nil)
    }
  }

  @Test("the status says all have a configuration when all do, and who does not tell")
  func configurations() async throws {
    try await RedisServer.with { redis in
      func beat(_ worker: String, _ fields: String...) async throws {
        for words in [
          ["HSET", "pushpool:worker:\(worker)", "lanes", "1"] + fields,
          // Far ahead, so that it has not fallen silent when it is looked at.
          ["ZADD", "pushpool:workers", "4102444800000", worker],
        ] {
          let child = try ChildProcess(
            "redis-cli", ["-s", redis.socketPath] + words, output: .discard)
          #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
        }
      }
      func line() async throws -> String? {
        let screen = try await Pushpool.run("status", "--redis", redis.url)
        return screen.output.split(separator: "\n").map(String.init)
          .first { $0.contains("came into force") }
      }
      try await beat("w1", "configuration_digest", "new", "configuration_loaded_at", "2000")
      let all = try #require(try await line())
      #expect(all.hasPrefix("  all have the configuration ") && all.hasSuffix(" ago"), "\(all)")
      try await beat("w2")
      let silent = try #require(try await line())
      #expect(silent.hasPrefix("  1 of 2 have the configuration "), "\(silent)")
      #expect(silent.hasSuffix(" ago; not told by w2"), "\(silent)")
      try await beat("w3", "configuration_digest", "old", "configuration_loaded_at", "1000")
      let others = try #require(try await line())
      #expect(others.hasPrefix("  1 of 3 have the configuration "), "\(others)")
      #expect(others.hasSuffix(" ago; another one: w3; not told by w2"), "\(others)")
    }
  }

  @Test(
    "the status shows a worker's memory, beside the limit of its control group where there is one")
  func memory() async throws {
    try await RedisServer.with { redis in
      func memory(limit: String) async throws -> String? {
        _ = try await redis.command(
          "HSET", "pushpool:worker:w1", "lanes", "1", "rss_bytes", "78643200",
          "memory_limit_bytes", limit)
        _ = try await redis.command("ZADD", "pushpool:workers", "4102444800000", "w1")
        let screen = try await Pushpool.run("status", "--redis", redis.url)
        return screen.output.split(separator: "\n").map(String.init).first { $0.hasPrefix("  w1 ") }
      }
      let bounded = try #require(try await memory(limit: "268435456"))
      #expect(bounded.contains("  75 MiB of 256 MiB"), "\(bounded)")
      let unbounded = try #require(try await memory(limit: "0"))
      #expect(unbounded.contains("  75 MiB") && !unbounded.contains("of"), "\(unbounded)")
    }
  }

  @Test("a worker whose sentinels know no such master says so in log, health file and status")
  func unknownMaster() async throws {
    var options = RedisServer.Options()
    options.tcp = true
    try await RedisServer.with(options) { redis in
      let watching = SentinelServer.Options(masterPort: try #require(redis.port))
      try await SentinelServer.with(1, watching) { sentinels in
        let url = SentinelServer.url(sentinels, master: "other")
        let reason = "no sentinel knows a master with the name other"
        let folder = try TemporaryFolder()
        let file = try configuration(folder, redis: url)
        let health = folder.file("health")
        let child = try Pushpool.start(["worker", "--config", file, "--health-file", health])
        let line = await child.standardError?.nextLine(
          containing: reason, timeoutMs: Pushpool.timeoutMs)
        #expect(line != nil)
        let deadline = ContinuousClock.now + .milliseconds(Pushpool.timeoutMs)
        var content = ""
        while !content.contains(reason), ContinuousClock.now < deadline {
          content = TextFile.read(health, bytesMax: 4_096) ?? ""
        }
        #expect(content.hasPrefix("starting\n") && content.contains(reason), "\(content)")
        let status = try await Pushpool.run("status", "--redis", url)
        #expect(status.status == 69 && status.error.contains(reason), "\(status.error)")
        child.signal(SIGTERM)
        #expect(try await Pushpool.finish(child).status == 0)
      }
    }
  }

  @Test(
    "a worker whose threads cannot all be made ends with 70 and says how many there may be",
    arguments: [1, 40])
  func fewThreads(threadsMax: Int) async throws {
    let folder = try TemporaryFolder()
    let file = try configuration(folder, redis: "unix://\(folder.file("none.sock"))")
    // Root has no such limit, and another user's processes count. So it is somebody who has none.
    let isRoot = getuid() == 0
    let user = uid_t.random(in: 200_000...2_000_000_000)
    var command = ["prlimit", "--nproc=\(isRoot ? threadsMax : 1)"]
    if isRoot {
      // Where that user may run it, wherever it was built. Were it written here, a child that another test starts
      // meanwhile might have it open for writing, and then nobody can run it.
      let program = folder.file("program")
      let copying = try ChildProcess("cp", [Pushpool.path, program], output: .pipe, error: .pipe)
      #expect(try await Pushpool.finish(copying).status == 0)
      for path in [folder.path] + FolderContent.names(folder.path).map({ folder.file($0) }) {
        #expect(chown(path, user, user) == 0)
      }
      command = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + command
      command += ["sh", "-c", #"shift; exec "$0" "$@""#, program]
    }
    let child = try Pushpool.start(
      ["worker", "--config", file, "--lanes", "64"], behind: command)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 70)
    #expect(result.error.contains("cannot start"))
    #expect(result.error.contains("this process has "))
    #expect(
      result.error.contains("the user may have \(isRoot ? threadsMax : 1) processes and threads"))
  }

  @Test(
    "a worker without the files that it takes to start ends with 70 and says how many it may open",
    arguments: [6, 40])
  func fewFiles(filesMax: Int) async throws {
    let folder = try TemporaryFolder()
    let file = try configuration(folder, redis: "unix://\(folder.file("none.sock"))")
    let child = try Pushpool.start(
      ["worker", "--config", file, "--lanes", "16"], behind: ["prlimit", "--nofile=\(filesMax)"])
    let result = try await Pushpool.finish(child)
    #expect(result.status == 70)
    #expect(result.error.contains("this process may open \(filesMax) files"))
  }

  @Test(
    "a worker has a lane for each CPU that it may run on, and says why", .timeLimit(.minutes(5)))
  func keepsToAffinity() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("none.sock")
    let file = try configuration(folder, redis: "unix://\(socket)")
    // The first of those that the tests may run on.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let list = try #require(
      status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
    let cpu = list.drop { !$0.isNumber }.prefix { $0.isNumber }
    let child = try Pushpool.start(
      ["worker", "--config", file], behind: ["taskset", "-c", String(cpu)],
      environment: ["PUSHPOOL_WORKER_LANES": "0"])
    let line = try #require(
      await child.standardError?.nextLine(
        containing: "lanes: 1, since the", timeoutMs: Pushpool.timeoutMs))
    let record = try #require(JSONParser().parse(line).objectValue)
    #expect(record["lanes"]?.stringValue == "1" || record["lanes"]?.int64Value == 1)
    // It heeds SIGTERM by the time that it looks for Redis.
    _ = try #require(
      await child.standardError?.nextLine(containing: socket, timeoutMs: Pushpool.timeoutMs))
    child.signal(SIGTERM)
    #expect(try await Pushpool.finish(child).status == 0)
  }

  @Test("a worker that was started to outlive its terminal passes over SIGHUP")
  func ignoresHangUp() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("none.sock")
    let file = try configuration(folder, redis: "unix://\(socket)")
    let child = try Pushpool.start(
      ["worker", "--config", file], behind: ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"])
    // It tries to connect each second; draining would end it within one.
    func triesOnce() async throws {
      let line = await child.standardError?.nextLine(
        containing: socket, timeoutMs: Pushpool.timeoutMs)
      try #require(line != nil)
    }
    try await triesOnce()
    for _ in 0..<3 {
      child.signal(SIGHUP)
      try await triesOnce()
    }
    #expect(child.exit == nil)
    child.signal(SIGTERM)
    #expect(try await Pushpool.finish(child).status == 0)
  }

  @Test("a worker drains when the terminal has gone that it was started on")
  func hangsUp() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("none.sock")
    let file = try configuration(folder, redis: "unix://\(socket)")
    var terminal: PseudoTerminal? = try PseudoTerminal()
    let path = try #require(terminal?.path)
    // The worker has a session of its own, whose terminal this is. It ends with the shell that waits for it.
    let shell =
      #"setsid --ctty setpriv --pdeathsig KILL "$0" "$@" <"\#(path)" & wait $!"#
    let child = try Pushpool.start(
      ["worker", "--config", file], behind: ["/bin/sh", "-c", shell])
    try #require(
      await child.standardError?.nextLine(containing: socket, timeoutMs: Pushpool.timeoutMs) != nil
    )
    terminal = nil
    try #require(
      await child.standardError?.nextLine(
        containing: "stopping: draining", timeoutMs: Pushpool.timeoutMs) != nil)
    #expect(try await Pushpool.finish(child).status == 0)
    #expect(terminal == nil)
  }

  /// Nil when there is no such file.
  private static func content(of path: String) throws -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, 64, file) != nil else { return "" }
    return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
