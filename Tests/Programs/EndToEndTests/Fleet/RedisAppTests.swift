import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing
import Worker

/// Apps that a command adds to Redis while workers run.
@Suite struct RedisAppTests {
  /// What a command needs to put apps beside a stage's, and how workers read them.
  private struct Tenants {
    let stage: PushStage
    let configuration: Configuration
    private let commands: String
    private let shop: APNsConfiguration

    init(_ stage: PushStage) throws {
      self.stage = stage
      let key = stage.folder.file("apps.key")
      try PrivateFile.write(SealingKey.random().fileText, to: key)
      commands = stage.folder.file("commands.yaml")
      try PrivateFile.write("apps_in_redis: {key_files: [\(key)]}\n", to: commands)
      var configuration = stage.configuration
      configuration.appsInRedis = AppsInRedisConfiguration(keyFiles: [key])
      self.configuration = configuration
      shop = try #require(configuration.app("shop")?.apns[.production])
    }

    /// Writes the file of an app on the stage's APNs. - Returns: its path.
    private func write(_ id: String, _ more: String) throws -> String {
      guard case .token(let keyFile, let keyID, let teamID) = shop.credential,
        let endpoint = shop.access.endpoint, let caFile = shop.access.caFile
      else { throw NeverHappened(description: "the stage has no key") }
      let file = stage.folder.file("\(id).yaml")
      try PrivateFile.write(
        """
        id: \(id)
        apns:
          production:
            key_file: \(keyFile)
            key_id: \(keyID)
            team_id: \(teamID)
            topic: \(shop.topic)
            endpoint: \(endpoint)
            ca_file: \(caFile)
        \(more)
        """, to: file)
      return file
    }

    /// Runs a command of an operator that ends well.
    func app(_ verb: String, _ subject: String) async throws {
      let result = try await stage.pushpool("app", verb, subject, "--config", commands)
      #expect(result.exit == .code(0), "app \(verb) \(subject): \(result)")
    }

    func add(_ id: String, _ more: String = "") async throws {
      try await app("add", try write(id, more))
    }

    func set(_ id: String, _ more: String = "") async throws {
      try await app("set", try write(id, more))
    }

    func install(_ id: String, _ numbers: Range<Int>, prefix: String) async throws {
      try await stage.client.install(
        try Devices.apns(numbers, prefix: prefix).map {
          var installation = $0
          installation.app = id
          return installation
        })
    }

    func job(_ app: String, _ id: String, _ numbers: Range<Int>, _ more: String = "") -> String {
      Devices.job(id, numbers, more).replacing("\"shop\"", with: "\"\(app)\"")
    }
  }

  @Test(
    "an app that is added while workers run is sent for, by all of them, and a junk one stops nobody"
  )
  func adds() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      let tenants = try Tenants(stage)
      try await client.install(try Devices.apns(0..<20))
      try await tenants.install("news", 0..<20, prefix: "ab")
      try await stage.withWorkers(2, of: tenants.configuration) { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<20))
        #expect(try await client.finished("before").counts.accepted == 20)
        // Somebody writes what is no record, and tells of it.
        for words in [
          ["HSET", "pushpool:apps", "junk", "no JSON"],
          ["XADD", "pushpool:app_changes", "*", "app", "junk"],
        ] { _ = try await client.command(words: words) }
        try await tenants.add("news")
        let nowMs = try await client.serverMs()
        _ = try await client.enqueue(tenants.job("news", "first", 0..<20))
        #expect(try await client.finished("first", app: "news").counts.accepted == 20)
        #expect(try await client.serverMs() - nowMs < 10_000)
        let alarm = try await eventually("the junk one is left out") {
          try await client.alarms().first { $0.field == "left_out|junk" }
        }
        #expect(alarm.message.contains("its record in Redis"))
        // Its job waits, and all others go on.
        _ = try await client.enqueue(tenants.job("junk", "waits", 0..<1))
        for number in 0..<20 {
          _ = try await client.enqueue(tenants.job("news", "one-\(number)", number..<(number + 1)))
          _ = try await client.enqueue(Devices.job("one-\(number)", number..<(number + 1)))
        }
        for number in 0..<20 {
          #expect(try await client.finished("one-\(number)", app: "news").counts.accepted == 1)
          #expect(try await client.finished("one-\(number)").counts.accepted == 1)
        }
        #expect(try await client.length("dead") == 0)
        let routes = try await client.command("HKEYS", "pushpool:routes:apps").array ?? []
        #expect(routes.compactMap(\.string) == ["news"])
        // It is mended.
        try await tenants.install("junk", 0..<1, prefix: "cd")
        try await tenants.set("junk")
        #expect(try await client.finished("waits", app: "junk").counts.accepted == 1)
        _ = try await eventually("the alarms end") {
          try await client.alarms().isEmpty ? true : nil
        }
      }
      // Two campaigns, a job to each device of both apps, and one to that of the mended app.
      #expect(stage.simulator.acceptedPushes.count == 4 * 20 + 1)
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  @Test(
    "an app that is removed drains: what is in flight counts, the rest waits, and goes on when it is back"
  )
  func removes() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 200 }
    try await PushStage.with(script: script, worker: .narrow(20)) { stage in
      let client = stage.client
      let tenants = try Tenants(stage)
      try await client.install(try Devices.apns(0..<20))
      try await tenants.install("news", 0..<400, prefix: "ab")
      try await tenants.add("news")
      try await stage.withWorkers(of: tenants.configuration) { _ in
        // It was there before the worker: no job of it waits for anything.
        _ = try await client.enqueue(tenants.job("news", "sale", 0..<400))
        try await stage.waitUntilAccepted(60)
        #expect(try await client.alarms().allSatisfy { $0.field != "no_worker|news" })
        try await tenants.app("remove", "news")
        _ = try await eventually("nobody has it any more") {
          let has = try await client.command("HEXISTS", "pushpool:routes:apps", "news")
          return has.integer == 0 ? true : nil
        }
        _ = try await eventually("all that was in flight is answered") {
          let record = try await client.record("sale", app: "news")
          return record.map { $0.counts.accepted == stage.simulator.counters.accepted } == true
            ? true : nil
        }
        // Others are sent for as ever.
        _ = try await client.enqueue(Devices.job("shop", 0..<20))
        #expect(try await client.finished("shop").counts.accepted == 20)
        let record = try #require(try await client.record("sale", app: "news"))
        #expect(record.state == .running && record.pending > 0 && record.isBalanced)
        try await tenants.add("news")
        let sale = try await client.finished("sale", app: "news")
        #expect(sale.counts.accepted == 400 && sale.isBalanced)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test(
    "an app that is set anew is sent for by its new settings, over connections that others keep")
  func sets() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      let tenants = try Tenants(stage)
      try await client.install(try Devices.apns(0..<20))
      try await tenants.install("news", 0..<20, prefix: "ab")
      try await tenants.add("news")
      try await stage.withWorkers(of: tenants.configuration) { _ in
        for job in [Devices.job("warm", 0..<20), tenants.job("news", "warm", 0..<20)] {
          _ = try await client.enqueue(job)
        }
        #expect(try await client.finished("warm").counts.accepted == 20)
        #expect(try await client.finished("warm", app: "news").counts.accepted == 20)
        let before = stage.simulator.counters.connectionsOpened
        try await tenants.set("news", "pushes_per_second: 10")
        let rate = try await eventually("the rate holds") {
          _ = try await client.enqueue(
            tenants.job("news", "paced-\(UInt32.random(in: .min ... .max))", 0..<1))
          return try await client.command("EXISTS", "pushpool:rate:app:news").integer == 1
            ? true : nil
        }
        #expect(rate)
        _ = try await client.enqueue(Devices.job("after", 0..<20))
        #expect(try await client.finished("after").counts.accepted == 20)
        // One more, of the app that has changed.
        #expect(stage.simulator.counters.connectionsOpened == before + 1)
      }
    }
  }

  @Test("an app that a worker has in its file is refused by the command")
  func conflicts() async throws {
    try await PushStage.with { stage in
      let tenants = try Tenants(stage)
      try await stage.withWorkers(of: tenants.configuration) { _ in
        _ = try await eventually("the worker says what it has") {
          try await stage.client.command("ZCARD", "pushpool:routes").integer == 1 ? true : nil
        }
        let file = stage.folder.file("shop.yaml")
        try PrivateFile.write("id: shop\njpush: {app_key: a, master_secret: b}\n", to: file)
        let result = try await stage.pushpool(
          "app", "add", file, "--config", stage.folder.file("commands.yaml"))
        #expect(result.exit == .code(65), "\(result)")
        #expect(result.error.contains("shop is an app of the configuration file of a worker"))
      }
    }
  }

  @Test(
    "with several shards an app of Redis lives at home, and its job in another one is passed on")
  func atHome() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      let tenants = try Tenants(stage)
      var configuration = fleet.configuration
      configuration.appsInRedis = tenants.configuration.appsInRedis
      try await fleet.install(0..<20)
      try await tenants.install("news", 0..<20, prefix: "ab")
      try await stage.withWorkers(of: configuration) { _ in
        try await tenants.add("news")
        _ = try await client.enqueue(tenants.job("news", "first", 0..<20))
        #expect(try await client.finished("first", app: "news").counts.accepted == 20)
        _ = try await euClient.enqueue(tenants.job("news", "stray", 0..<20))
        _ = try await euClient.enqueue(ShardStage.other("sale", 0..<20))
        #expect(try await client.finished("stray", app: "news").counts.accepted == 20)
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 20)
        #expect(try await euClient.command("EXISTS", "pushpool:routes:apps").integer == 0)
        #expect(try await euClient.command("EXISTS", "pushpool:apps").integer == 0)
        // The app of a file that lives in another shard is one, too.
        _ = try await eventually("the worker says there what it has") {
          try await euClient.command("ZCARD", "pushpool:routes").integer == 1 ? true : nil
        }
        let file = stage.folder.file("other.yaml")
        try PrivateFile.write("id: other\njpush: {app_key: a, master_secret: b}\n", to: file)
        let commands = stage.folder.file("fleet.yaml")
        try PrivateFile.write(
          """
          redis:
            home: main
            shards: [{id: main, url: "\(stage.redis.url)"}, {id: eu, url: "\(fleet.eu.url)"}]
          apps_in_redis: {key_files: [\(stage.folder.file("apps.key"))]}
          """, to: commands)
        let child = try ChildProcess(
          PushStage.programFolder + "/pushpool", ["app", "add", file, "--config", commands],
          folder: "/", output: .pipe, error: .pipe)
        let result = await stage.end(of: child)
        #expect(result.exit == .code(65), "\(result)")
        #expect(result.error.contains("other is an app of the configuration file of a worker"))
      }
      #expect(stage.simulator.acceptedPushes.count == 60)
      for one in [client, euClient] { #expect(try await one.length("dead") == 0) }
    }
  }

  @Test("a worker process takes apps of Redis with no app in its file, and drains with them")
  func process() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      let tenants = try Tenants(stage)
      try await tenants.install("news", 0..<20, prefix: "ab")
      try await tenants.add("news")
      var bare = stage.text
      bare.apps = []
      let process = try stage.startProcess(
        environment: ["PUSHPOOL_APPS_IN_REDIS_KEY_FILES": stage.folder.file("apps.key")], of: bare)
      _ = try await client.enqueue(tenants.job("news", "sale", 0..<20))
      #expect(try await client.finished("sale", app: "news").counts.accepted == 20)
      let names = try await client.command("ZRANGE", "pushpool:workers", "0", "-1").array ?? []
      let name = try #require(names.first?.string)
      _ = try await eventually("it says how many it has") {
        try await client.command("HGET", "pushpool:worker:\(name)", "redis_apps").string == "1"
          ? true : nil
      }
      let log = TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 20) ?? ""
      #expect(!log.contains("PRIVATE"))
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }
}
