import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Server

@Suite struct FleetReaderTests {
  private static func members(
    _ section: FeedSection, of reading: FeedReading
  ) throws -> JSONObject {
    try #require(reading.sections[section]?.objectValue, "\(section)")
  }

  @Test("an empty fleet has every section, and nothing in it")
  func empty() async throws {
    try await ServedStore.with { services in
      let reading = try await FleetReader(services).look()
      #expect(Set(reading.sections.keys) == Set(FeedSection.allCases).subtracting([.store]))
      let fleet = try Self.members(.fleet, of: reading)
      #expect(fleet["alive"] == .integer(0) && fleet["oldest_ready_ms"] == nil)
      #expect(try Self.members(.alarms, of: reading)["alarms"] == .array([]))
      let minutes = try Self.members(.history, of: reading)["minutes"]?.arrayValue
      #expect(minutes?.count == ServerLimits.historyMinutes)
      #expect(reading.nowMs > 0)
    }
  }

  @Test("workers, alarms, switches, answers and rates are told as they are")
  func fleet() async throws {
    let app = AppConfiguration(id: "shop", pushesPerSecond: 500, eventsPerMinute: 600)
    try await ServedStore.with(apps: [app]) { services in
      try await services.session.run(in: .home) { store throws(RedisError) in
        try await store.workers.beat(
          worker: "w1",
          fields: [
            ("lanes", "2"), ("in_flight", "30"), ("accepted_per_second", "1000"),
            ("connections", "4"), ("host", "box"), ("cpu_ms", "5"),
            ("networks", "apns:30/2000/4/1 fcm:0/100/1/0"),
          ])
        try await store.alarms.raise(
          "breaker|shop|apns|production", by: "w1", lifeMs: 60_000, message: "it <b>fails</b>")
        _ = try await store.switches.switchOff(.user(app: "shop", "u|1"), reason: "asked")
        let minute = Minute.name(epochSeconds: try await store.serverSeconds())
        try await store.metrics.recordLatency(
          [
            LatencyCount(network: .apns, boundMs: 20, count: 99),
            LatencyCount(network: .apns, boundMs: 100, count: 1),
          ], minute: minute)
      }
      let reading = try await FleetReader(services).look()
      let fleet = try Self.members(.fleet, of: reading)
      #expect(fleet["alive"] == .integer(1) && fleet["lanes"] == .integer(2))
      #expect(fleet["accepted_per_second"] == .integer(1_000))
      let worker = try #require(fleet["workers"]?.arrayValue?.first?.objectValue)
      #expect(worker["host"] == .string("box") && worker["last_beat"] == nil)
      #expect(worker["networks"]?.arrayValue?.count == 2)
      let alarm = try #require(
        Self.members(.alarms, of: reading)["alarms"]?.arrayValue?.first { value in
          value.objectValue?["kind"] == .string("breaker")
        }?.objectValue)
      #expect(alarm["message"] == .string("it <b>fails</b>"))
      #expect(alarm["about"] == .array([.string("shop"), .string("apns"), .string("production")]))
      let off = try Self.members(.switches, of: reading)["switches"]?.arrayValue?.first
      #expect(off?.objectValue?["user"] == .string("u|1"))
      let network = try #require(
        Self.members(.networks, of: reading)["networks"]?.arrayValue?.first?.objectValue)
      #expect(network["streams_allowed"] == .integer(2_000) && network["goaways"] == .integer(1))
      let known = try Self.members(.networks, of: reading)["known"]?.arrayValue
      #expect(known?.compactMap(\.stringValue) == Network.allCases.map(\.rawValue))
      let answers = try #require(network["answers"]?.objectValue)
      #expect(answers["count"] == .integer(100) && answers["p50_ms"] == .integer(20))
      #expect(answers["p99_ms"] == .integer(20))
      let rates = try Self.members(.rates, of: reading)["rates"]?.arrayValue
      #expect(rates?.map { $0.objectValue?["what"]?.stringValue } == ["pushes", "events"])
    }
  }

  @Test("which workers have the newest configuration, refuse it or await a restart is told")
  func configurations() async throws {
    try await ServedStore.with { services in
      try await services.session.run(in: .home) { store throws(RedisError) in
        for (worker, fields) in [
          ("w1", [("configuration_digest", "b"), ("configuration_loaded_at", "2000")]),
          ("w2", [("configuration_digest", "a"), ("configuration_loaded_at", "1000")]),
          ("w3", [("configuration_alarm", "configuration|apps")]),
          ("w4", [("restart_awaited_by", "worker.lanes")]),
        ] {
          try await store.workers.beat(worker: worker, fields: fields + [("lanes", "1")])
        }
      }
      let reading = try await FleetReader(services).look()
      let found = try #require(
        Self.members(.fleet, of: reading)["configurations"]?.objectValue)
      #expect(found["since"] == .integer(2_000) && found["newest"] == .integer(1))
      #expect(found["others"] == ["count": .integer(1), "workers": .array([.string("w2")])])
      #expect(
        found["unknown"] == [
          "count": .integer(2), "workers": .array([.string("w3"), .string("w4")]),
        ])
      #expect(found["refusing"] == ["count": .integer(1), "workers": .array([.string("w3")])])
      #expect(
        found["restarts"] == [
          "count": .integer(1),
          "workers": .array([["worker": .string("w4"), "settings": .string("worker.lanes")]]),
        ])
    }
  }

  @Test("workers beyond the first are counted, and not named")
  func manyRefuse() async throws {
    try await ServedStore.with { services in
      let workers = (0..<ServerLimits.feedNamesMax + 2).map { "w\($0)" }
      var count: JSONValue?
      // Whoever is silent for long is not at work: on a slow machine the first may be by the time that the last has begun.
      for _ in 0..<10 where count != .integer(workers.count) {
        try await services.session.run(in: .home) { store throws(RedisError) in
          for worker in workers {
            try await store.workers.beat(
              worker: worker, fields: [("configuration_alarm", "configuration|apps")])
          }
        }
        let fleet = try Self.members(.fleet, of: try await FleetReader(services).look())
        let refusing = fleet["configurations"]?.objectValue?["refusing"]?.objectValue
        count = refusing?["count"]
        #expect(refusing?["workers"]?.arrayValue?.count ?? 0 <= ServerLimits.feedNamesMax)
      }
      #expect(count == .integer(workers.count))
    }
  }

  @Test("open jobs are told with their pace, and what was seen of them is kept")
  func jobs() async throws {
    try await ServedStore.with { services in
      try await services.session.run(in: .home) { store throws(RedisError) in
        _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
        guard let entry = try await store.jobs.take(consumer: "w", max: 1).first else { return }
        var admission = Admission(
          app: "shop", id: "sale", digest: "d", content: Array("{}".utf8),
          audience: Admission.Audience(lines: .users, recipients: 1, segments: 1))
        admission.audience.texts = [Array("u1\n".utf8)]
        _ = try await store.jobs.admit(entry, admission, consumer: "w")
      }
      let reader = FleetReader(services)
      let jobs = try Self.members(.jobs, of: try await reader.look())
      #expect(jobs["open_count"] == .integer(1))
      let job = try #require(jobs["open"]?.arrayValue?.first?.objectValue)
      #expect(job["id"] == .string("sale") && job["state"] == .string("running"))
      #expect(await reader.pace(app: "shop", id: "sale")?.points.count == 1)
      #expect(await reader.pace(app: "shop", id: "other") == nil)
    }
  }

  @Test("a Redis that is away is a problem, and not the end")
  func away() async throws {
    try await ServedStore.with { services in
      let reader = FleetReader(services)
      _ = try await reader.look()
      await services.session.close()
      await #expect(throws: Problem.self) { _ = try await reader.look() }
    }
  }
}
