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

  /// Nil when there is no such file.
  private static func content(of path: String) throws -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, 64, file) != nil else { return "" }
    return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
