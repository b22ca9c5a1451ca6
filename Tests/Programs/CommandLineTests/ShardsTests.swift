import Foundation
import LocalServices
import Model
import Testing

/// Commands in a fleet of two shards: the app `shop` lives in `eu`, and `blog` in `main`, the home.
@Suite struct ShardsTests {
  private struct Fleet: Sendable {
    let main: RedisServer
    let eu: RedisServer
    let folder: TemporaryFolder

    func run(_ arguments: String...) async throws -> Pushpool.Result {
      // The tests' variable is for one Redis, and is refused beside a list.
      let child = try Pushpool.start(
        arguments, behind: ["/usr/bin/env", "-u", "PUSHPOOL_REDIS_ACCEPTED_RISKS"],
        folder: folder.path)
      return try await Pushpool.finish(child)
    }

    /// Writes a file into the folder, and returns its name.
    func write(_ text: String, to name: String) throws -> String {
      try PrivateFile.write(text, to: folder.file(name))
      return name
    }
  }

  private static func with(_ body: @Sendable (Fleet) async throws -> Void) async throws {
    try await RedisServer.with { main in
      try await RedisServer.with { eu in
        let fleet = Fleet(main: main, eu: eu, folder: try TemporaryFolder())
        _ = try fleet.write(
          """
          redis:
            home: main
            shards:
              - {id: main, url: "\(main.url)", accepted_risks: no_append_only_file}
              - {id: eu, url: "\(eu.url)", accepted_risks: no_append_only_file}
          apps:
            - {id: shop, shard: eu, fcm: {service_account_file: f.json}}
            - {id: blog, fcm: {service_account_file: f.json}}
          """, to: "pushpool.yaml")
        try await body(fleet)
      }
    }
  }

  private static func line(_ app: String, _ user: Int) -> String {
    #"{"app":"\#(app)","user":"u\#(user)","network":"fcm","token":"\#(app)-\#(user)-0123456789"}"#
  }

  /// Asks a server, as somebody does who knows nothing of shards.
  private static func ask(_ redis: RedisServer, _ words: String...) async throws -> String {
    let child = try ChildProcess("redis-cli", ["-s", redis.socketPath] + words, output: .pipe)
    return await child.standardOutput?.rest(timeoutMs: Pushpool.timeoutMs) ?? ""
  }

  @Test("an import brings each line to the shard of its app, and commands find it there")
  func installations() async throws {
    try await Self.with { fleet in
      let lines = (0..<600).map { Self.line($0 % 3 == 0 ? "shop" : "blog", $0) }
      let file = try fleet.write(lines.joined(separator: "\n") + "\n", to: "devices.ndjson")
      let imported = try await fleet.run("import", file, "--json")
      #expect(imported.status == 0, "\(imported.error)")
      #expect(try imported.json.last?["created"]?.int64Value == 600)
      for (app, count) in [("shop", 200), ("blog", 400)] {
        let export = try await fleet.run("export", "--app", app)
        #expect(export.output.split(separator: "\n").count == count)
      }
      #expect(try await fleet.run("export").output.split(separator: "\n").count == 600)
      let keys = try await Self.ask(fleet.main, "KEYS", "*shop*")
      #expect(keys.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, "\(keys)")
      let devices = try await fleet.run("devices", "--app", "shop", "--user", "u3", "--json")
      #expect(try devices.json.map { $0["token"]?.stringValue } == ["shop-3-0123456789"])
      let subscribed = try fleet.write(
        #"{"app":"shop","topic":"t","user":"u3"}"# + "\n"
          + #"{"app":"blog","topic":"t","user":"u1"}"# + "\n", to: "topics.ndjson")
      let topics = try await fleet.run("subscribe", subscribed)
      #expect(topics.status == 0, "\(topics.error)")
      for app in ["shop", "blog"] {
        let sizes = try await fleet.run("topics", "--app", app, "--json")
        #expect(try sizes.json.map { $0["users"]?.int64Value } == [1])
      }
    }
  }

  @Test("a job goes to its app's shard, and its letter is named with the shard")
  func letters() async throws {
    try await Self.with { fleet in
      let job = try fleet.write(
        #"{"id":"j","app":"shop","audience":{"users":["u"]},"notification":{"title":"t"}}"#,
        to: "job.json")
      let added = try await fleet.run("enqueue", job, "--json")
      #expect(added.status == 0, "\(added.error)")
      #expect(try added.json.first?["entry"]?.stringValue?.hasPrefix("eu/") == true)
      #expect(
        try await Self.ask(fleet.eu, "XLEN", "pushpool:jobs:normal").hasPrefix("1"))
      #expect(
        try await Self.ask(fleet.main, "XLEN", "pushpool:jobs:normal").hasPrefix("0"))
      // Equal entries in both shards.
      for redis in [fleet.main, fleet.eu] {
        _ = try await Self.ask(
          redis, "XADD", "pushpool:dead", "5-1", "at", "5", "kind", "job", "reason", "invalid_job",
          "app", "shop", "id", "j", "priority", "normal", "job", "{}", "truncated", "0")
      }
      let list = try await fleet.run("dead", "list", "--json")
      #expect(try list.json.map { $0["entry"]?.stringValue } == ["eu/5-1", "main/5-1"])
      let bare = try await fleet.run("dead", "drop", "5-1")
      #expect(bare.status == 65 && bare.error.contains("must name its shard"), "\(bare.error)")
      #expect(try await fleet.run("dead", "drop", "eu/5-1").output == "1 dropped\n")
      let rest = try await fleet.run("dead", "list", "--json")
      #expect(try rest.json.map { $0["entry"]?.stringValue } == ["main/5-1"])
    }
  }

  @Test("without one of its shards a fleet is shown and steered as far as it is there")
  func away() async throws {
    try await Self.with { fleet in
      let both = try await fleet.run("status")
      #expect(both.status == 0 && both.output.contains("Redis in 2 shards, home main"))
      await fleet.eu.stop()
      let status = try await fleet.run("status", "--json")
      let shards = try status.json.first?["shards"]?.arrayValue?.compactMap(\.objectValue)
      #expect(shards?.map { $0["present"]?.boolValue } == [true, false])
      let check = try await fleet.run("status", "--check")
      #expect(check.status == 1 && check.error.contains("shard|eu"), "\(check.error)")
      #expect(try await fleet.run("switch", "off", "--app", "blog").status == 0)
      let switched = try await fleet.run("switch", "off", "--app", "shop")
      #expect(switched.status == 69 && switched.error.contains("(shard eu)"), "\(switched.error)")
      let list = try await fleet.run("switch", "list", "--json")
      #expect(try list.json.map { $0["switch"]?.stringValue } == ["app|blog"])
      #expect(list.error.contains("warning: shard eu is left out"), "\(list.error)")
      let doctor = try await fleet.run("doctor", "--offline", "--json")
      #expect(doctor.status == 69)
      #expect(doctor.output.contains(#""subject":"redis eu""#), "\(doctor.output)")
      #expect(doctor.output.contains(#""subject":"redis main""#))
    }
  }

  @Test("an option that names one Redis is refused beside a list")
  func option() async throws {
    try await Self.with { fleet in
      let result = try await fleet.run("status", "--redis", fleet.main.url)
      #expect(result.status == 64)
      #expect(
        result.error.contains(
          "--redis is for a fleet with one Redis, and redis.shards lists several"),
        "\(result.error)")
    }
  }
}
