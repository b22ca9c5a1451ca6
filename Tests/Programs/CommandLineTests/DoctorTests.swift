import LocalServices
import Model
import Testing

/// `pushpool doctor`, without the networks: what it says of them the tests of Operations try.
@Suite struct DoctorTests {
  private static func well() -> RedisServer.Options {
    var options = RedisServer.Options()
    options.appendOnly = true
    return options
  }

  @Test("where all is well it says so and ends with 0")
  func well() async throws {
    let folder = try TemporaryFolder()
    try PreviewFolder.write(to: folder)
    try await RedisServer.with(Self.well()) { redis in
      let environment = ["PUSHPOOL_REDIS_URL": redis.url]
      let result = try await Pushpool.run(
        "doctor", "--offline", environment: environment, folder: folder.path)
      #expect(result.status == 0 && result.error == "", "\(result)")
      #expect(result.output.hasSuffix("\nall is well\n"))
      #expect(result.output.contains("ok       redis: is "))
      let json = try await Pushpool.run(
        "doctor", "--offline", "--json", environment: environment, folder: folder.path)
      let object = try #require(try json.json.first)
      #expect(object["ok"]?.boolValue == true && object["redis_asked"]?.boolValue == true)
      #expect(object["findings"]?.arrayValue?.isEmpty == false)
    }
  }

  @Test("what needs a person ends with 1, and the last line says what to do first")
  func needsPerson() async throws {
    let folder = try TemporaryFolder()
    try await RedisServer.with { redis in
      let result = try await Pushpool.run(
        "doctor", "--offline",
        environment: ["PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_REDIS_ACCEPTED_RISKS": "replica"],
        folder: folder.path)
      #expect(result.status == 1)
      #expect(result.output.contains("\nwarning  redis: Redis has appendonly no"))
      #expect(result.output.contains("\n         to do: set appendonly yes\n"))
      #expect(result.output.hasSuffix("\nfirst: redis: set appendonly yes\n"))
      #expect(result.error == "pushpool: 1 thing needs a person\n")
    }
  }

  @Test("an error of the configuration is one of its findings")
  func configuration() async throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write("worker: {lane: 1}", to: folder.file("pushpool.yaml"))
    try await RedisServer.with(Self.well()) { redis in
      let result = try await Pushpool.run(
        "doctor", environment: ["PUSHPOOL_REDIS_URL": redis.url], folder: folder.path)
      #expect(result.status == 1)
      #expect(result.output.hasPrefix("error    configuration: pushpool.yaml:1: worker.lane"))
    }
  }

  @Test("without Redis it ends with 69, and tells the rest")
  func noRedis() async throws {
    let folder = try TemporaryFolder()
    try PreviewFolder.write(to: folder)
    let result = try await Pushpool.run(
      "doctor", "--offline", environment: ["PUSHPOOL_REDIS_URL": "unix:///none/redis.sock"],
      folder: folder.path)
    #expect(result.status == 69)
    #expect(result.output.contains("ok       configuration: pushpool.yaml has no error"))
    #expect(result.output.contains("error    redis: cannot use Redis at unix:///none/redis.sock"))
    #expect(result.error == "pushpool: Redis cannot be asked: see above\n")
  }
}
