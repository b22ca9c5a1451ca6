import LocalServices
import Model
import Testing

/// `pushpool export` against a real Redis.
@Suite struct ExportTests {
  @Test("what one Redis exports another imports, and exports just so")
  func moves() async throws {
    try await RedisServer.with { old in
      try await RedisServer.with { new in
        let folder = try TemporaryFolder()
        var lines = (0..<700).map { ImportFile.line($0, user: "u\($0 / 2)") }
        lines.append(
          #"{"app":"shop","user":"ann","network":"fcm","token":"f1-of-ann-00","environment":"development","#
            + #""object_id":"o1","device_type":"android","app_name":"Shop","app_version":"1.2","#
            + #""os_version":"14","sdk_version":"3","time_zone":"Asia/Tokyo","language":"ja","#
            + #""badge":3,"channels":["a:b","news"],"created_at":1700000000000,"#
            + #""updated_at":1790000000000,"custom":{"plan":"gold \"x\""}}"#)
        lines.append(#"{"app":"other","user":"bob","network":"jpush","token":"1a0018970a8"}"#)
        for number in 0..<300 {
          lines.append(#"{"app":"shop","topic":"news","user":"u\#(number)"}"#)
        }
        lines.append(#"{"app":"other","topic":"a_b","user":"ä \"q\""}"#)
        let path = try ImportFile.write(lines, in: folder)
        let imported = try await Pushpool.run("import", path, "--json", "--redis", old.url)
        #expect(imported.status == 0, "\(imported.error)")
        #expect(try imported.json.first?["created"]?.int64Value == 702)
        #expect(try imported.json.first?["subscriptions"]?.int64Value == 301)
        #expect(try imported.json.first?["subscribed"]?.int64Value == 301)

        let exported = try await Pushpool.run("export", "--redis", old.url)
        #expect(exported.status == 0)
        #expect(exported.error.contains("702 installations and 301 subscriptions"))
        let copy = try ImportFile.write(
          exported.output.split(separator: "\n").map(String.init), to: "copy.ndjson", in: folder)
        let again = try await Pushpool.run("import", copy, "--redis", new.url)
        #expect(
          again.status == 0 && again.output.contains("702 installations and 301 subscriptions"))
        let second = try await Pushpool.run("export", "--redis", new.url)
        #expect(
          Set(exported.output.split(separator: "\n")) == Set(second.output.split(separator: "\n")))

        let one = try await Pushpool.run("export", "--app", "other", "--redis", new.url)
        #expect(one.output.split(separator: "\n").count == 2, "\(one.output)")
        #expect(
          one.output.contains(#""topic":"a_b""#) && one.output.contains(#""token":"1a0018970a8""#))
      }
    }
  }

  @Test("a bad name of an app is a usage error, and an empty database an empty export")
  func edges() async throws {
    try await RedisServer.with { redis in
      let bad = try await Pushpool.run("export", "--app", "a b", "--redis", redis.url)
      #expect(bad.status == 64 && bad.error.contains("--app"))
      let none = try await Pushpool.run("export", "--redis", redis.url)
      #expect(none.status == 0 && none.output == "")
      #expect(none.error.contains("0 installations and 0 subscriptions"))
    }
  }
}
