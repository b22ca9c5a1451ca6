import LocalServices
import Model
import Redis
import Simulator
import Testing

/// Campaigns to a topic and to all.
@Suite struct AudienceTests {
  private static func job(_ id: String, _ audience: String) -> String {
    """
    {"id": "\(id)", "app": "shop", "audience": \(audience),
     "notification": {"title": "Hello", "body": "World"}}
    """
  }

  @Test("a topic reaches all devices of its subscribers, all everybody, each once")
  func delivers() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      // Every user has two devices.
      try await client.install(try Devices.apns(0..<2_000))
      try await client.install(try Devices.fcm(0..<2_000))
      // Half of them subscribe, and 100 who have no device.
      try await client.subscribe((1_000..<2_100).map { "u\($0)" }, to: "news")
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Self.job("topic", #"{"topic": "news"}"#))
        let topic = try await client.finished("topic")
        #expect(topic.counts.accepted == 2_000 && topic.total == 2_000 && topic.isBalanced)
        #expect(topic.counts.noInstallations == 100)
        let reached = Set(stage.simulator.acceptedPushes.map(\.token))
        #expect(reached.count == 2_000 && stage.duplicates == 0)
        let wanted = try (1_000..<2_000).map { try Devices.apns($0).token.text }
        #expect(wanted.allSatisfy { reached.contains($0) })
        _ = try await client.enqueue(Self.job("all", #"{"all": true}"#))
        let all = try await client.finished("all")
        #expect(all.counts.accepted == 4_000 && all.total == 4_000 && all.isBalanced)
        let accepted = stage.simulator.acceptedPushes.map(\.token)
        #expect(accepted.count == 6_000 && Set(accepted.dropFirst(2_000)).count == 4_000)
        // Nobody subscribes to it: that is no error.
        _ = try await client.enqueue(Self.job("nobody", #"{"topic": "nobody"}"#))
        let nobody = try await client.finished("nobody")
        #expect(nobody.state == .done && nobody.total == 0)
      }
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("a channel reaches the devices that are in it, and no others of their users")
  func channels() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      var phones = try Devices.apns(0..<600)
      for number in phones.indices where number % 2 == 0 { phones[number].channels = ["giants"] }
      try await client.install(phones)
      try await client.install(try Devices.fcm(0..<600))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("giants", #"{"channel": "giants"}"#))
        let record = try await client.finished("giants")
        #expect(record.counts.accepted == 300 && record.counts.skipped == 300)
        #expect(record.isBalanced && record.counts.noInstallations == 0)
        let wanted = Set(phones.filter { !$0.channels.isEmpty }.map(\.token.text))
        #expect(Set(stage.simulator.acceptedPushes.map(\.token)) == wanted)
        #expect(stage.simulator.acceptedPushes.count == 300)
      }
    }
  }

  @Test("a topic that is switched off holds its jobs, and sends all of them when it is on")
  func switches() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(10)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_000))
      try await client.subscribe((0..<1_000).map { "u\($0)" }, to: "news")
      try await client.subscribe(["u0"], to: "goals")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("news", #"{"topic": "news"}"#))
        try await stage.waitUntilAccepted(100)
        _ = try await client.command("HSET", "pushpool:switches", "topic|shop|news", "wrong")
        _ = try await client.enqueue(Self.job("goals", #"{"topic": "goals"}"#))
        #expect(try await client.finished("goals").counts.accepted == 1)
        #expect(try await client.record("news")?.state == .running)
        let on = try await stage.pushpool("switch", "on", "--app", "shop", "--topic", "news")
        #expect(on.exit == .code(0))
        let record = try await client.finished("news")
        #expect(record.counts.accepted == 1_000 && record.isBalanced)
      }
    }
  }

  @Test("a campaign to all goes on where a killed worker and a killed Redis left it")
  func survives() async throws {
    try await PushStage.with(script: .slow) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3_000))
      let victim = try stage.startProcess()
      _ = try await client.enqueue(Self.job("all", #"{"all": true}"#))
      try await stage.waitUntilAccepted(600)
      await victim.kill()
      _ = try await client.command("SAVE")
      await stage.redis.kill9()
      try await stage.redis.restart()
      try await stage.withWorkers { _ in
        let record = try await client.finished("all")
        #expect(record.state == .done && record.isBalanced && record.total == 3_000)
        #expect(record.counts.accepted == 3_000)
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 3_000, "lost pushes")
    }
  }

  @Test("a job to all waits for the index of a fleet that was there before indexes")
  func notIndexed() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<50))
      for key in ["index:shop:all", "block:shop:all:", "audiences:shop", "indexed"] {
        _ = try await client.command("DEL", "pushpool:" + key)
      }
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("early", #"{"all": true}"#))
        let letter = try await eventually("it is refused") {
          try await client.entries("dead").first
        }
        #expect(letter["reason"] == "not_indexed" && letter["field"] == "/audience/all")
        #expect(letter["message"]?.contains("run pushpool index --app shop") == true)
        let indexed = try await stage.pushpool("index", "--app", "shop")
        #expect(indexed.exit == .code(0))
        #expect(indexed.output.contains("50 users have a device, 50 of them"))
        let retried = try await stage.pushpool("dead", "retry", "--all")
        #expect(retried.exit == .code(0))
        stage.expectDelivered(try await client.finished("early"), 50)
      }
    }
  }
}
