import Glibc
import LocalServices
import Model
import Store
import Testing

/// What `pushpool enqueue` says without waiting, and what it refuses because of what Redis holds.
@Suite struct EnqueueTests {
  private static let job =
    #"{"id":"sale","app":"shop","audience":{"users":["u1"]},"notification":{"body":"x"}}"#

  private func enqueue(
    _ job: String, _ options: String..., at redis: RedisServer
  ) async throws -> Pushpool.Result {
    let folder = try TemporaryFolder()
    try PrivateFile.write(job, to: folder.file("job.json"))
    let child = try Pushpool.start(
      ["enqueue", folder.file("job.json"), "--redis", redis.url] + options)
    return try await Pushpool.finish(child)
  }

  private func redis(_ words: String..., at redis: RedisServer) async throws -> String {
    let child = try ChildProcess("redis-cli", ["-s", redis.socketPath] + words, output: .pipe)
    #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
    return await child.standardOutput?.rest(timeoutMs: Pushpool.timeoutMs) ?? ""
  }

  @Test(
    "no job is added to a replica that takes writes: it would be gone with the next synchronization"
  )
  func replica() async throws {
    var options = RedisServer.Options()
    options.configuration = ["replicaof 127.0.0.1 1", "replica-read-only no"]
    try await RedisServer.with(options) { server in
      let result = try await enqueue(Self.job, at: server)
      #expect(result.status == 69 && result.error.contains("replica"), "\(result.error)")
      #expect(try await redis("XLEN", "pushpool:jobs:normal", at: server) == "0\n")
    }
  }

  @Test("a job that is only handed over is said not to be judged yet, with the way to learn more")
  func handedOver() async throws {
    try await RedisServer.with { server in
      let plain = try await enqueue(Self.job, at: server)
      #expect(plain.status == 0 && plain.output == "sale\n")
      #expect(plain.error.contains("handed over, not yet judged"))
      #expect(plain.error.contains("pushpool job sale --app shop"))
      let json = try await enqueue(Self.job, "--json", at: server)
      #expect(json.error.isEmpty)
      #expect(try json.json.first?["judged"]?.boolValue == false)
      let unchecked = try await enqueue("not json", "--no-check", at: server)
      #expect(unchecked.status == 0 && unchecked.error.contains("pushpool dead list"))
    }
  }

  @Test(
    "an id that has other content is refused before the job is added, and the same job is said to be"
  )
  func names() async throws {
    try await RedisServer.with { server in
      let digest = ContentDigest.of(try Job(bytes: Array(Self.job.utf8)))
      for (kept, status, text) in [
        ("0000", CInt(65), "/id: another job of this app has the id"),
        (digest, 0, "the same job was enqueued before"),
      ] {
        _ = try await redis(
          "HSET", "pushpool:job:shop:sale", "state", "done", "admitted", "1", "digest", kept,
          at: server)
        let result = try await enqueue(Self.job, at: server)
        #expect(result.status == status && result.error.contains(text), "\(result)")
        let waiting = try await redis("XLEN", "pushpool:jobs:normal", at: server)
        #expect(waiting == (status == 0 ? "1\n" : "0\n"))
      }
      // A name that was taken and not used is free, and a key of another type says nothing.
      _ = try await redis(
        "HSET", "pushpool:job:shop:sale", "admitted", "0", "digest", "0000", at: server)
      #expect(try await enqueue(Self.job, at: server).status == 0)
      _ = try await redis("SET", "pushpool:job:shop:sale", "x", at: server)
      #expect(try await enqueue(Self.job, at: server).status == 0)
    }
  }

  @Test("where Redis has the function, the same job adds nothing, and an id that waits is taken")
  func submitted() async throws {
    try await RedisServer.with { server in
      // A command that changes something puts the functions there.
      let installed = try await Pushpool.run(
        "install", "--app", "shop", "--user", "u1", "--network", "fcm", "--token", "abcdefgh",
        environment: ["PUSHPOOL_REDIS_URL": server.url])
      #expect(installed.status == 0, "\(installed)")
      for isRepeated in [false, true] {
        let result = try await enqueue(Self.job, "--json", at: server)
        #expect(result.status == 0, "\(result)")
        #expect(try result.json.first?["repeated"]?.boolValue == isRepeated)
        #expect(try await redis("XLEN", "pushpool:jobs:normal", at: server) == "1\n")
      }
      // No worker has taken the first one: its name alone tells.
      let other = Self.job.replacing("\"x\"", with: "\"y\"")
      let refused = try await enqueue(other, at: server)
      #expect(refused.status == 65, "\(refused)")
      #expect(refused.error.contains("/id: another job of this app has the id"), "\(refused)")
      #expect(try await redis("XLEN", "pushpool:jobs:normal", at: server) == "1\n")
    }
  }

  @Test("a key that the job names and that is missing, or of a wrong type, is refused by its field")
  func keys() async throws {
    try await RedisServer.with { server in
      let keyed =
        #"{"app":"shop","audience":{"users_key":"segment:vip"},"notification":{"title":"{{n}}"},"variables_key":"values"}"#
      for (words, text) in [
        (["SET", "values", "x"], "/audience/users_key: the key \"segment:vip\" does not exist"),
        (
          ["SET", "segment:vip", "x"],
          "/audience/users_key: the key \"segment:vip\" is of another type"
        ),
        (["DEL", "segment:vip", "values"], "/audience/users_key"),
        (["SADD", "segment:vip", "u1"], "/variables_key: the key \"values\" does not exist"),
        (["SET", "values", "x"], "/variables_key: the key \"values\" is of another type"),
      ] {
        let child = try ChildProcess(
          "redis-cli", ["-s", server.socketPath] + words, output: .discard)
        #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
        for options in [["--json"], ["--wait"]] {
          let result = try await enqueue(keyed, options[0], at: server)
          #expect(result.status == 65 && result.error.contains(text), "\(result)")
        }
      }
      _ = try await redis("DEL", "values", at: server)
      _ = try await redis("HSET", "values", "u1", "{}", at: server)
      #expect(try await enqueue(keyed, at: server).status == 0)
      #expect(try await redis("XLEN", "pushpool:jobs:normal", at: server) == "1\n")
    }
  }
}
