import Glibc
import LocalServices
import Model
import Store
import Testing
import TestSupport

/// `pushpool app`.
@Suite struct AppCommandTests {
  private let folder: TemporaryFolder
  private let key: APNsSigningKey

  init() throws {
    folder = try TemporaryFolder()
    key = try APNsSigningKey(folder: folder.path)
    try PrivateFile.write(SealingKey.random().fileText, to: folder.file("apps.key"))
    try PrivateFile.write("master-hidden\n", to: folder.file("jpush.secret"))
    try configure(["apps.key"])
    try write()
  }

  /// Writes the configuration of the commands.
  private func configure(_ keys: [String], _ more: String = "") throws {
    try PrivateFile.write(
      "apps_in_redis: {key_files: [\(keys.joined(separator: ", "))]}\n\(more)\n",
      to: folder.file("pushpool.yaml"))
  }

  /// Writes the file of an app.
  private func write(_ id: String = "news", _ more: String = "") throws {
    try PrivateFile.write(
      """
      id: \(id)
      apns:
        production:
          key_file: AuthKey_\(key.keyID).p8
          key_id: \(key.keyID)
          team_id: \(key.teamID)
          topic: com.example.\(id)
      jpush: {app_key: abc, master_secret_file: jpush.secret}
      \(more)
      """, to: folder.file("\(id).yaml"))
  }

  private func run(_ redis: RedisServer, _ arguments: String..., input: String? = nil) async throws
    -> Pushpool.Result
  {
    let child = try Pushpool.start(
      ["app"] + arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url], folder: folder.path,
      input: input)
    return try await Pushpool.finish(child)
  }

  @Test("a job of an app that stands in Redis is shown as it would be sent")
  func dryRun() async throws {
    try await RedisServer.with { redis in
      func show(_ app: String) async throws -> Pushpool.Result {
        let job =
          #"{"app": "\#(app)", "audience": {"users": ["u1"]}, "notification": {"title": "Sale"}}"#
        try PrivateFile.write(job, to: folder.file("job.json"))
        let child = try Pushpool.start(
          ["enqueue", "job.json", "--dry-run", "--network", "apns"],
          environment: ["PUSHPOOL_REDIS_URL": redis.url], folder: folder.path)
        return try await Pushpool.finish(child)
      }
      let missing = try await show("news")
      #expect(missing.status == 65, "\(missing)")
      #expect(missing.error.contains("neither the configuration nor Redis has an app \"news\""))
      #expect(try await run(redis, "add", "news.yaml").status == 0)
      let shown = try await show("news")
      #expect(
        shown.status == 0 && shown.output.contains("apns-topic: com.example.news"), "\(shown)")
      #expect(!shown.output.contains("PRIVATE") && !shown.output.contains("hidden"))
      // The record is sealed with a key that is gone.
      try PrivateFile.write(SealingKey.random().fileText, to: folder.file("apps.key"))
      let sealed = try await show("news")
      #expect(
        sealed.status == 78 && sealed.error.contains("news stands in Redis and cannot be used"))
    }
  }

  @Test("an app is added, listed, shown without its secrets, replaced and removed")
  func lifeCycle() async throws {
    try await RedisServer.with { redis in
      let none = try await run(redis)
      #expect(none.status == 0 && none.error.contains("there are no apps in Redis"), "\(none)")
      let missing = try await run(redis, "set", "news.yaml")
      #expect(missing.status == 65 && missing.error.contains("to add it"), "\(missing)")
      let added = try await run(redis, "add", "news.yaml")
      #expect(added.status == 0, "\(added)")
      #expect(added.output == "news is added (apns, jpush): each worker has it within 5 seconds\n")
      let again = try await run(redis, "add", "news.yaml")
      #expect(again.status == 65 && again.error.contains("there is an app news already"))
      let same = try await run(redis, "set", "news.yaml")
      #expect(same.status == 0 && same.output == "news is as it was\n", "\(same)")

      // Nothing of the secrets is in Redis, nor in what is shown.
      let kept = try await redis.command("HGETALL", "pushpool:apps")
      let text = TextFile.read(key.file, bytesMax: 4_096) ?? ""
      let line = try #require(text.split(separator: "\n").dropFirst().first)
      #expect(kept.contains("com.example.news"))
      #expect(!kept.contains(line) && !kept.contains("hidden"))
      for arguments in [
        ["show", "news"], ["show", "news", "--json"], ["list"], ["list", "--json"],
      ] {
        let child = try Pushpool.start(
          ["app"] + arguments, environment: ["PUSHPOOL_REDIS_URL": redis.url], folder: "/")
        let shown = try await Pushpool.finish(child)
        #expect(shown.status == 0 && shown.output.contains("news"), "\(shown)")
        #expect(!shown.output.contains(line) && !shown.output.contains("hidden"))
      }
      let shown = try await run(redis, "show", "news")
      #expect(shown.output.contains("topic: com.example.news"), "\(shown)")
      #expect(shown.output.contains("master_secret: sha256 "), "\(shown)")

      try write("news", "pushes_per_second: 5")
      let set = try await run(redis, "set", "news.yaml", "--json")
      #expect(set.status == 0, "\(set)")
      #expect(try set.json.first?["status"] == .string("replaced"))
      try write("mail")
      let put = try await run(redis, "set", "mail.yaml", "--or-add")
      #expect(put.status == 0 && put.output.hasPrefix("mail is added"), "\(put)")
      let list = try await run(redis, "list", "--json", "--limit", "1")
      #expect(try list.json.compactMap { $0["id"]?.stringValue } == ["mail"])
      #expect(list.error.contains("pushpool app list --after mail"), "\(list)")

      let removed = try await run(redis, "remove", "news")
      #expect(removed.status == 0 && removed.output.hasPrefix("news is removed"), "\(removed)")
      let gone = try await run(redis, "remove", "news")
      #expect(gone.status == 65 && gone.error.contains("there is no app news in Redis"), "\(gone)")
      let acts = try await redis.command("XRANGE", "pushpool:acts", "-", "+")
      for verb in ["app.add", "app.set", "app.remove"] { #expect(acts.contains(verb)) }
    }
  }

  @Test("what is shown as JSON may be changed and set again, and its secrets stay")
  func editsJSON() async throws {
    try await RedisServer.with { redis in
      #expect(try await run(redis, "add", "news.yaml").status == 0)
      let shown = try await run(redis, "show", "news", "--json")
      var object = try #require(try shown.json.first)
      let digest = object["jpush"]?.objectValue?["master_secret"]
      object["pushes_per_second"] = .integer(7)
      try PrivateFile.write(JSONValue.object(object).text(), to: folder.file("edited.json"))
      let set = try await run(redis, "set", "-", input: folder.file("edited.json"))
      #expect(set.status == 0, "\(set)")
      let next = try #require(try await run(redis, "show", "news", "--json").json.first)
      #expect(next["pushes_per_second"] == .integer(7))
      #expect(next["jpush"]?.objectValue?["master_secret"] == digest)
      // The revision in it is not the app's any more.
      let late = try await run(redis, "set", "edited.json")
      #expect(
        late.status == 65 && late.error.contains("news is not what was shown any more: "), "\(late)"
      )
      #expect(late.error.contains(" has changed it, or removed it and added it again, at 2"))
    }
  }

  @Test("what is wrong is told with file, line and field, and secrets are never repeated")
  func refuses() async throws {
    try await RedisServer.with { redis in
      try PrivateFile.write("no key at all", to: key.file)
      let bad = try await run(redis, "add", "news.yaml")
      #expect(bad.status == 65, "\(bad)")
      #expect(
        bad.error.contains("news.yaml:4: apns.production.key_file: the value "), "\(bad)")
      #expect(!bad.error.contains("no key at all"))
      let none = try await run(redis, "add", "none.yaml")
      #expect(none.status == 65 && none.error.contains("No such file"), "\(none)")
      let name = try await run(redis, "show", "a b")
      #expect(name.status == 64 && name.error.contains("The name of an app must be"), "\(name)")
      #expect(try await redis.command("EXISTS", "pushpool:apps").contains("0"))
    }
  }

  @Test("an app of the configuration file is not added beside it")
  func conflicts() async throws {
    try await RedisServer.with { redis in
      try configure(
        ["apps.key"],
        """
        apps:
          - id: news
            jpush: {app_key: abc, master_secret_file: jpush.secret}
        """)
      let refused = try await run(redis, "add", "news.yaml")
      #expect(refused.status == 65, "\(refused)")
      #expect(refused.error.contains("news is an app of the configuration file of this"))
    }
  }

  @Test("without a key nothing is added, and the way to one is told")
  func withoutKey() async throws {
    try await RedisServer.with { redis in
      try PrivateFile.write("redis: {prefix: pushpool}\n", to: folder.file("pushpool.yaml"))
      let added = try await run(redis, "add", "news.yaml")
      #expect(added.status == 78 && added.error.contains("openssl rand -base64 32"), "\(added)")
      #expect(try await run(redis, "list").status == 0)
      try configure(["news.yaml"])
      let noKey = try await run(redis, "reseal")
      #expect(noKey.status == 78, "\(noKey)")
      #expect(noKey.error.contains("pushpool.yaml:1: apps_in_redis.key_files: "), "\(noKey)")
    }
  }

  @Test("a key is replaced: all apps are sealed anew, but for one that no key opens")
  func reseals() async throws {
    try await RedisServer.with { redis in
      for id in ["a1", "b2", "c3"] {
        try write(id)
        #expect(try await run(redis, "add", "\(id).yaml").status == 0)
      }
      let already = try await run(redis, "reseal")
      #expect(already.status == 0 && already.output.contains("3 were already"), "\(already)")
      let new = SealingKey.random()
      try PrivateFile.write(new.fileText, to: folder.file("new.key"))
      try configure(["new.key", "apps.key"])
      let resealed = try await run(redis, "reseal", "--json")
      #expect(resealed.status == 0, "\(resealed)")
      #expect(try resealed.json.first?["sealed"] == .integer(3))
      #expect(try resealed.json.first?["key"] == .string(new.id))
      // The old key is needed no more.
      try configure(["new.key"])
      let shown = try await run(redis, "show", "a1")
      #expect(shown.output.contains("sealed by: \(new.id)"), "\(shown)")
      try PrivateFile.write(SealingKey.random().fileText, to: folder.file("other.key"))
      try configure(["other.key"])
      let refused = try await run(redis, "reseal")
      #expect(refused.status == 65 && refused.output.contains("0 apps sealed"), "\(refused)")
      #expect(refused.error.contains("a1: /apns/production/key: is sealed with the key \(new.id)"))
    }
  }

  @Test("an app that is junk is listed with its fault, and is set anew")
  func junk() async throws {
    try await RedisServer.with { redis in
      _ = try await redis.command("HSET", "pushpool:apps", "news", "no JSON")
      let list = try await run(redis, "list")
      #expect(list.status == 0 && list.output.contains("the record is not valid JSON"), "\(list)")
      let shown = try await run(redis, "show", "news")
      #expect(shown.status == 65 && shown.error.contains("workers leave it out"), "\(shown)")
      #expect(try await run(redis, "set", "news.yaml").status == 0)
      #expect(try await run(redis, "show", "news").status == 0)
    }
  }
}
