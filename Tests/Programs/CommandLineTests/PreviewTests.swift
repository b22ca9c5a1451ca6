import LocalServices
import Model
import Testing

/// `pushpool enqueue --dry-run`.
@Suite struct PreviewTests {
  private static let token = String(repeating: "00ff", count: 16)

  /// A folder with a configuration whose app is on APNs and FCM, and a job.
  private static func folder(
    _ job: String =
      #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"title": "Sale"}}"#
  ) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try PreviewFolder.write(to: folder)
    try PrivateFile.write(job, to: folder.file("job.json"))
    return folder
  }

  private static func run(
    _ arguments: String..., in folder: TemporaryFolder, redis: String? = nil
  ) async throws -> Pushpool.Result {
    let child = try Pushpool.start(
      ["enqueue", "job.json", "--dry-run"] + arguments,
      environment: redis.map { ["PUSHPOOL_REDIS_URL": $0] } ?? [:], folder: folder.path)
    return try await Pushpool.finish(child)
  }

  @Test("any device's request is printed without Redis, with a body that people can read")
  func withoutRedis() async throws {
    let folder = try Self.folder()
    let result = try await Self.run("--network", "apns", in: folder)
    #expect(result.status == 0, "\(result.error)")
    #expect(
      result.output == """
        apns production (device token)
          POST https://api.push.apple.com/3/device/(device token)
          apns-topic: com.example.shop
          apns-push-type: alert
          apns-priority: 10
          authorization: (credential)

          {
            "aps": {
              "alert": {
                "title": "Sale"
              }
            }
          }

          payload: 34 bytes, 4,096 are allowed

        """)
    let missing = try await Self.run(
      "--network", "apns", "--environment", "development", in: folder)
    #expect(missing.status == 1)
    #expect(missing.output.contains("nothing is sent: this configuration has no credentials"))
  }

  @Test(
    "a user's devices are asked of Redis, shown with a part of their tokens, and nothing is added")
  func user() async throws {
    try await RedisServer.with { redis in
      let folder = try Self.folder()
      func install(_ network: String, _ token: String) async throws {
        let child = try Pushpool.start(
          ["install", "--app", "shop", "--user", "u1", "--network", network, "--token", token],
          environment: ["PUSHPOOL_REDIS_URL": redis.url])
        #expect(try await Pushpool.finish(child).status == 0)
      }
      let none = try await Self.run("--user", "u1", in: folder, redis: redis.url)
      #expect(none.status == 1)
      #expect(none.error.contains("user u1 of shop has no installations"))
      try await install("apns", Self.token)
      try await install("fcm", "cX1:token-of-u1")
      let both = try await Self.run("--user", "u1", "--json", in: folder, redis: redis.url)
      #expect(both.status == 0, "\(both.error)")
      #expect(!both.output.contains(Self.token) && !both.output.contains("token-of-u1"))
      let printed = try both.json
      let object = try #require(printed.first)
      #expect(object["refused"] == .null)
      let devices = object["devices"]?.arrayValue?.compactMap(\.objectValue) ?? []
      try #require(devices.count == 2)
      #expect(devices.map { $0["network"]?.stringValue } == ["apns", "fcm"])
      #expect(devices.allSatisfy { $0["in_audience"] == .bool(true) })
      let fcm = devices[1]["request"]?.objectValue
      #expect(fcm?["headers"]?.objectValue?["authorization"]?.stringValue == "(credential)")
      #expect(
        fcm?["body"]?.objectValue?["message"]?.objectValue?["token"]?.stringValue == "cX1:tok…")

      let one = try await Self.run("--token", Self.token, in: folder, redis: redis.url)
      #expect(one.status == 0)
      #expect(one.output.hasPrefix("apns production 00ff00ff…"))
      let unknown = try await Self.run("--token", "abcdef01", in: folder, redis: redis.url)
      #expect(unknown.status == 1)
      #expect(!unknown.error.contains("abcdef01"))
      let status = try await Pushpool.run("status", "--json", "--redis", redis.url)
      let backlog = try status.json.first?["backlog"]?.objectValue?["normal"]?.objectValue
      #expect(backlog?["jobs"]?.int64Value == 0)
    }
  }

  @Test("a job that workers would refuse is bad input, and so is one of an app that is not there")
  func refused() async throws {
    let text = String(repeating: "x", count: 5_000)
    let large = try Self.folder(
      #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"body": "\#(text)"}}"#)
    let result = try await Self.run("--network", "fcm", in: large)
    #expect(result.status == 65)
    #expect(result.output.contains("nothing is sent: /notification"))
    #expect(result.error.hasPrefix("pushpool: job.json: /notification: makes an APNs payload"))
    let other = try Self.folder(
      #"{"app": "shp", "audience": {"users": ["u1"]}, "notification": {"body": "b"}}"#)
    let unknown = try await Self.run("--network", "fcm", in: other)
    #expect(unknown.status == 65)
    #expect(
      unknown.error.contains(#"/app: the configuration has no app "shp"; did you mean "shop"?"#))
    let bad = try Self.folder(#"{"app": "shop"}"#)
    #expect(try await Self.run("--network", "fcm", in: bad).status == 65)
  }

  @Test("without Redis, or without an app's settings, it says what to do")
  func missing() async throws {
    let folder = try Self.folder()
    let away = try await Self.run(
      "--user", "u1", in: folder, redis: "unix://\(folder.file("none.sock"))")
    #expect(away.status == 69)
    #expect(away.error.contains("which needs no Redis: --network"))
    let bare = try TemporaryFolder()
    try PrivateFile.write(
      #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"body": "b"}}"#,
      to: bare.file("job.json"))
    let none = try await Self.run("--network", "fcm", in: bare)
    #expect(none.status == 78)
    #expect(none.error.contains("--config FILE"))
  }

  @Test(
    "whom it is for is said once, and with --dry-run only",
    arguments: [
      ["--dry-run"], ["--dry-run", "--user", "u1", "--network", "apns"], ["--user", "u1"],
      ["--network", "apns"], ["--dry-run", "--user", "u1", "--environment", "production"],
      ["--dry-run", "--network", "apns", "--wait"],
      ["--dry-run", "--network", "apns", "--no-check"],
    ])
  func usage(arguments: [String]) async throws {
    let child = try Pushpool.start(["enqueue", "none.json"] + arguments)
    #expect(try await Pushpool.finish(child).status == 64)
  }
}
