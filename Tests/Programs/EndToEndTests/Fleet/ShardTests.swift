import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// Workers of a fleet with two shards, each a Redis of its own.
@Suite struct ShardTests {
  private static func keys(_ pattern: String, _ client: StageClient) async throws -> [String] {
    try await client.command("KEYS", pattern).array?.compactMap(\.string) ?? []
  }

  @Test("each app is sent for from its own shard, and one provider token is agreed on at home")
  func apart() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<400)
      try await stage.withWorkers(2, of: fleet.configuration) { workers in
        _ = try await client.enqueue(Devices.job("sale", 0..<400))
        _ = try await euClient.enqueue(ShardStage.other("sale", 0..<400))
        let shop = try await client.finished("sale")
        let other = try await euClient.finished("sale", app: "other")
        #expect(shop.counts.accepted == 400 && other.counts.accepted == 400)
        // A worker beats in each shard that it serves.
        for worker in workers {
          let name = worker.name
          for client in [client, euClient] {
            _ = try await eventually("\(name) beats") {
              try await ShardStage.beat(name, client) > 0 ? true : nil
            }
          }
        }
      }
      #expect(stage.simulator.acceptedPushes.count == 800 && stage.duplicates == 0)
      // A second token of the same key would be refused (TooManyProviderTokenUpdates).
      #expect(stage.simulator.counters.answers[429] ?? 0 == 0)
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
      #expect(stage.simulator.counters.violations == 0)
      #expect(try await Self.keys("pushpool:credential:apns:*", client).isEmpty == false)
      #expect(try await Self.keys("pushpool:credential:*", euClient).isEmpty)
      // Neither shard has anything of the other's app.
      #expect(try await Self.keys("pushpool:job:*other*", client).isEmpty)
      #expect(try await Self.keys("pushpool:job:*shop*", euClient).isEmpty)
    }
  }

  @Test("a rate that apps of both shards keep to stands at home, and an app's own beside the app")
  func rates() async throws {
    try await ShardStage.with(configure: { $0.apps[1].pushesPerSecond = 2_000 }) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await client.install(try Devices.fcm(0..<100))
      try await euClient.install(
        try Devices.fcm(100..<200).map { installation in
          var installation = installation
          installation.app = "other"
          return installation
        })
      try await stage.withWorkers(of: fleet.configuration) { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<100))
        _ = try await euClient.enqueue(ShardStage.other("sale", 100..<200))
        #expect(try await client.finished("sale").counts.accepted == 100)
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 100)
        // While they are kept: for some seconds.
        #expect(try await Self.keys("pushpool:rate:*", euClient) == ["pushpool:rate:app:other"])
        let atHome = try await Self.keys("pushpool:rate:*", client)
        #expect(atHome.count == 1 && !atHome.contains { $0.contains("app:") }, "\(atHome)")
      }
    }
  }

  @Test("a shard that is killed stops its own app, and goes on when it is back")
  func killed() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    options.configuration = ["appendfsync always"]
    try await ShardStage.with(eu: options) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<300)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await eventually("it beats in both") {
          let name = workers[0].name
          let isThere = try await ShardStage.beat(name, client) > 0
          return try await ShardStage.beat(name, euClient) > 0 && isThere ? true : nil
        }
        await fleet.eu.stop()
        _ = try await client.enqueue(Devices.job("alone", 0..<300))
        #expect(try await client.finished("alone").counts.accepted == 300)
        try await fleet.eu.restart()
        _ = try await euClient.enqueue(ShardStage.other("back", 0..<300))
        #expect(try await euClient.finished("back", app: "other").counts.accepted == 300)
      }
      #expect(stage.duplicates == 0 && stage.simulator.acceptedPushes.count == 600)
    }
  }

  @Test("a shard whose Redis hangs keeps no worker from saying that it lives in the others")
  func hanging() async throws {
    try await ShardStage.with { fleet in
      let (stage, client) = (fleet.stage, fleet.stage.client)
      try await fleet.install(0..<100)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        let name = workers[0].name
        _ = try await eventually("it beats") {
          try await ShardStage.beat(name, client) > 0 ? true : nil
        }
        let pid = await fleet.eu.pid
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        // A beat that waited for the other shard would be as late as an answer may be.
        var beats = [try await ShardStage.beat(name, client)]
        while beats.count < 12 {
          let last = beats[beats.count - 1]
          beats.append(
            try await eventually("it beats again") {
              let now = try await ShardStage.beat(name, client)
              return now > last ? now : nil
            })
        }
        let late = zip(beats, beats.dropFirst()).filter {
          $1 - $0 >= Double(RedisLimits.commandTimeoutMs)
        }
        #expect(late.isEmpty, "\(late)")
        _ = try await client.enqueue(Devices.job("alone", 0..<100))
        #expect(try await client.finished("alone").counts.accepted == 100)
      }
    }
  }

  @Test(
    "tokens are dated by the home's clock, wherever their app lives: by a wrong one APNs refuses them",
    arguments: [-3_700, 3_700])
  func homeClock(aheadSeconds: Int) async throws {
    let folder = try TemporaryFolder()
    let shift = try ClockShift(file: folder.file("clock"))
    try shift.set(realtimeMs: Int64(aheadSeconds) * 1_000)
    var options = RedisServer.Options()
    options.clock = shift
    func makeHome(_ configuration: inout Configuration) {
      // The app `shop` lives in `main`, whose clock is right.
      configuration.shards = ShardList(
        configuration.shards.all, home: configuration.shards.ids[1])
      configuration.apps[0].shard = "main"
    }
    try await ShardStage.with(eu: options, configure: makeHome) { fleet in
      let (stage, client) = (fleet.stage, fleet.stage.client)
      try await client.install(try Devices.apns(0..<1))
      try await stage.withWorkers(of: fleet.configuration) { _ in
        _ = try await client.enqueue(Devices.job("soon", 0..<1))
        _ = try await eventually("a token of the home's time is refused") {
          stage.simulator.counters.answers[403] ?? 0 > 0 ? true : nil
        }
        #expect(stage.simulator.acceptedPushes.isEmpty)
      }
    }
  }

  @Test(
    "a shard whose clock is an hour off sends what is due, and dates no tokens",
    arguments: [-3_600, 3_600])
  func clocks(aheadSeconds: Int) async throws {
    let folder = try TemporaryFolder()
    let shift = try ClockShift(file: folder.file("clock"))
    try shift.set(realtimeMs: Int64(aheadSeconds) * 1_000)
    var options = RedisServer.Options()
    options.clock = shift
    try await ShardStage.with(eu: options) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<200)
      try await stage.withWorkers(of: fleet.configuration) { _ in
        let ttl = #","ttl_seconds":900"#
        // First where the clock is wrong: by it a token would be refused.
        _ = try await euClient.enqueue(ShardStage.other("soon", 0..<200, ttl))
        #expect(try await euClient.finished("soon", app: "other").counts.accepted == 200)
        _ = try await client.enqueue(Devices.job("soon", 0..<200, ttl))
        #expect(try await client.finished("soon").counts.accepted == 200)
      }
      #expect(stage.simulator.counters.answers[403] ?? 0 == 0)
      #expect(stage.simulator.counters.answers[429] ?? 0 == 0)
    }
  }

  /// Waits until nothing is left in a shard's stream.
  private static func waitUntilEmpty(_ client: StageClient) async throws {
    _ = try await eventually("the stream is empty") {
      try await client.length("jobs:normal") == 0 ? true : nil
    }
  }

  @Test("a job that is added in the wrong shard is passed on, and is sent once")
  func passedOn() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<50)
      try await stage.withWorkers(of: fleet.configuration) { _ in
        // Each in the other's shard, and one of them in both.
        _ = try await client.enqueue(ShardStage.other("sale", 0..<20))
        _ = try await euClient.enqueue(ShardStage.other("sale", 0..<20))
        _ = try await euClient.enqueue(Devices.job("sale", 0..<50))
        let nameless = ShardStage.other("x", 20..<21).replacing("\"id\": \"x\", ", with: "")
        let entry = try await client.enqueue(nameless)
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 20)
        #expect(try await client.finished("sale").counts.accepted == 50)
        let passed = try await euClient.finished("main-n\(entry)", app: "other")
        #expect(passed.counts.accepted == 1)
        for one in [client, euClient] { try await Self.waitUntilEmpty(one) }
        #expect(try await client.record("sale", app: "other") == nil)
        #expect(try await euClient.record("sale") == nil)
      }
      #expect(stage.simulator.acceptedPushes.count == 71 && stage.duplicates == 0)
      #expect(try await client.length("dead") == 0)
      #expect(try await euClient.length("dead") == 0)
    }
  }

  @Test(
    "a job of a shard that is away waits where it was added, holds nothing up there, and is sent later"
  )
  func passedOnLater() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    options.configuration = ["appendfsync always"]
    try await ShardStage.with(eu: options) { fleet in
      let (stage, client) = (fleet.stage, fleet.stage.client)
      try await fleet.install(0..<50)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await eventually("it beats") {
          try await ShardStage.beat(workers[0].name, client) > 0 ? true : nil
        }
        await fleet.eu.stop()
        _ = try await client.enqueue(ShardStage.other("stray", 0..<20))
        _ = try await client.enqueue(Devices.job("sale", 0..<50))
        #expect(try await client.finished("sale").counts.accepted == 50)
        // It is held, with its lease, and no letter is made of it.
        _ = try await eventually("it is held") {
          try await client.command("XPENDING", "pushpool:jobs:normal", "workers")
            .array?.first?.integer == 1 ? true : nil
        }
        #expect(try await client.length("jobs:normal") == 1)
        #expect(try await client.command("ZCARD", "pushpool:unrouted:jobs:other").integer == 0)
        try await fleet.eu.restart()
        #expect(try await fleet.euClient.finished("stray", app: "other").counts.accepted == 20)
        try await Self.waitUntilEmpty(client)
      }
      #expect(stage.simulator.acceptedPushes.count == 70 && stage.duplicates == 0)
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test(
    "a worker that dies between adding a job in its shard and ending it where it was has it sent once",
    arguments: ["before", "after"])
  func dies(place: String) async throws {
    try await ShardStage.with(worker: .narrow(20, leaseSeconds: 1)) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<30)
      _ = try await client.enqueue(ShardStage.other("sale", 0..<30))
      // So that who dies has sent nothing of it.
      _ = try await euClient.command("HSET", "pushpool:switches", "app|other", "a test")
      let point = "\(place) hand_over_job:1"
      let process = try stage.startProcess(crashAt: point, of: fleet.text)
      guard await process.hasDied(at: point) else { return }
      _ = try await euClient.command("HDEL", "pushpool:switches", "app|other")
      try await stage.withWorkers(of: fleet.configuration) { _ in
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 30)
        try await Self.waitUntilEmpty(client)
        try await Self.waitUntilEmpty(euClient)
      }
      #expect(stage.simulator.acceptedPushes.count == 30 && stage.duplicates == 0)
      #expect(try await euClient.length("dead") == 0)
    }
  }

  @Test("a device is not registered in the wrong shard, and the error names the right one")
  func registration() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      func install(_ app: String, _ client: StageClient) async throws -> String? {
        do throws(any Error) {
          _ = try await client.command(
            "FCALL", "pushpool_install", "1", "pushpool",
            #"{"app":"\#(app)","user":"u","network":"fcm","token":"a-token-0123456789"}"#)
          return nil
        } catch let error as RedisError {
          guard case .server("INVALID", let message) = error else { throw error }
          return message
        }
      }
      try await stage.withWorkers(of: fleet.configuration) { _ in
        for (client, app, shard) in [(client, "other", "eu"), (euClient, "shop", "main")] {
          _ = try await eventually("the shard knows where \(app) lives") {
            try await client.command("HGET", "pushpool:elsewhere", app).string == shard ? true : nil
          }
          let message = try await install(app, client)
          #expect(
            message?.contains("/app: \(app) lives in the shard \"\(shard)\"") == true,
            "\(message ?? "accepted")")
        }
        #expect(try await install("shop", client) == nil)
        #expect(try await install("other", euClient) == nil)
        // What is written by hand in the place of a name of an app that lives here goes.
        #expect(try await client.command("HGET", "pushpool:elsewhere", "shop").string == nil)
      }
    }
  }

  @Test("no two lanes of a worker take work by one name, whatever shards they serve")
  func names() async throws {
    try await ShardStage.with(worker: .narrow(50)) { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<20)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await client.enqueue(Devices.job("sale", 0..<20))
        _ = try await euClient.enqueue(ShardStage.other("sale", 0..<20))
        #expect(try await client.finished("sale").counts.accepted == 20)
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 20)
        func consumers(_ client: StageClient) async throws -> Set<String> {
          let reply = try await client.command(
            "XINFO", "CONSUMERS", "pushpool:jobs:normal", "workers")
          return Set((reply.array ?? []).compactMap { $0.array?.dropFirst().first?.string })
        }
        let (here, there) = (try await consumers(client), try await consumers(euClient))
        #expect(here == ["\(workers[0].name)-0"] && there == ["\(workers[0].name)-1"])
      }
    }
  }

  @Test("a fleet of one shard writes nothing of shards")
  func single() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try Devices.apns(0..<5))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("sale", 0..<5))
        stage.expectDelivered(try await stage.client.finished("sale"), 5)
      }
      for key in ["shard", "shards", "elsewhere"] {
        #expect(try await stage.client.command("EXISTS", "pushpool:\(key)").integer == 0)
      }
    }
  }
}
