import LocalServices
import Model
import Testing

/// `pushpool subscribe`, `unsubscribe`, `topics` and `index` against a real Redis.
@Suite struct SubscriptionTests {
  private static func line(_ user: String, topic: String = "news") -> String {
    #"{"app":"shop","topic":"\#(topic)","user":"\#(user)"}"#
  }

  @Test("a user is subscribed and unsubscribed, once")
  func single() async throws {
    try await RedisServer.with { redis in
      for (command, words) in [
        ("subscribe", "subscribed"), ("subscribe", "subscribed already"),
        ("unsubscribe", "unsubscribed"), ("unsubscribe", "not subscribed"),
      ] {
        let result = try await Pushpool.run(
          command, "--app", "shop", "--topic", "news", "--user", "u1", "--redis", redis.url)
        #expect(result.status == 0 && result.output == words + "\n", "\(result)")
      }
      let json = try await Pushpool.run(
        "subscribe", "--app", "shop", "--topic", "news", "--user", "u1", "--json", "--redis",
        redis.url)
      #expect(try json.json.first?["status"]?.stringValue == "subscribed")
    }
  }

  @Test("a file is done up to its first bad line, which is named; to do it again is harmless")
  func file() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      var lines = (0..<700).map { Self.line("u\($0)") }
      lines[300] = ""
      lines[600] = Self.line("u600", topic: "a b")
      let path = try ImportFile.write(lines, in: folder)
      let stopped = try await Pushpool.run("subscribe", path, "--redis", redis.url)
      #expect(stopped.status == 65 && stopped.error.contains(":601: /topic: must be 1 to 64"))
      #expect(stopped.error.contains("599 before it are done"), "\(stopped.error)")
      lines[600] = Self.line("u600", topic: "goals")
      _ = try ImportFile.write(lines, in: folder)
      let whole = try await Pushpool.run("subscribe", path, "--json", "--redis", redis.url)
      #expect(whole.status == 0)
      #expect(try whole.json.first?["subscribed"]?.int64Value == 100)
      #expect(try whole.json.first?["unchanged"]?.int64Value == 599)
      let topics = try await Pushpool.run("topics", "--app", "shop", "--redis", redis.url)
      #expect(topics.output.split(separator: "\n").count == 3, "\(topics.output)")
      let json = try await Pushpool.run(
        "topics", "--app", "shop", "--json", "--redis", redis.url)
      #expect(try json.json.map { $0["topic"]?.stringValue } == ["goals", "news"])
      #expect(try json.json.map { $0["users"]?.int64Value } == [1, 698])
      let left = try await Pushpool.run("unsubscribe", path, "--redis", redis.url)
      #expect(left.status == 0 && left.output.hasPrefix("699 unsubscribed in "))
      let none = try await Pushpool.run("topics", "--app", "shop", "--redis", redis.url)
      #expect(none.status == 0 && none.error.contains("nobody subscribes to a topic of shop"))
    }
  }

  @Test("the channels of an app are listed with their users")
  func channels() async throws {
    try await RedisServer.with { redis in
      let none = try await Pushpool.run("channels", "--app", "shop", "--redis", redis.url)
      #expect(none.status == 0 && none.error.contains("no device is in a channel of shop"))
      let folder = try TemporaryFolder()
      let lines = (0..<3).map {
        ImportFile.line($0).dropLast() + #","channels":["giants"\#($0 == 0 ? #","a:b""# : "")]}"#
      }
      let path = try ImportFile.write(lines.map { String($0) }, in: folder)
      #expect(try await Pushpool.run("import", path, "--redis", redis.url).status == 0)
      let json = try await Pushpool.run(
        "channels", "--app", "shop", "--json", "--redis", redis.url)
      #expect(try json.json.map { $0["channel"]?.stringValue } == ["a:b", "giants"])
      #expect(try json.json.map { $0["users"]?.int64Value } == [1, 3])
    }
  }

  @Test("the index is made again, and a second run finds nothing new")
  func index() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write((0..<900).map { ImportFile.line($0) }, in: folder)
      let imported = try await Pushpool.run("import", path, "--redis", redis.url)
      #expect(imported.status == 0)
      let first = try await Pushpool.run(
        "index", "--app", "shop", "--json", "--redis", redis.url)
      #expect(first.status == 0, "\(first.error)")
      #expect(try first.json.first?["added"]?.int64Value == 0)
      #expect(try first.json.first?["users"]?.int64Value ?? 0 >= 900)
      let empty = try await Pushpool.run("index", "--app", "other", "--redis", redis.url)
      #expect(empty.status == 0 && empty.output.contains("0 users have a device"))
    }
  }
}
