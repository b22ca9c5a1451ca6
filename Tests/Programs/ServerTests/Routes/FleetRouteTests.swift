import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Server

/// The state of the fleet, and its charts.
@Suite struct FleetRouteTests {
  @Test("the fleet's state has breakers and rates beside what status shows")
  func fleet() async throws {
    let configuration = Configuration(apps: [
      AppConfiguration(id: "shop", pushesPerSecond: 500),
      AppConfiguration(id: "idle", pushesPerSecond: 5), AppConfiguration(id: "free"),
    ])
    try await RouteStage.with(configuration) { stage in
      try await stage.run { store throws(RedisError) in
        try await store.workers.beat(worker: "w", fields: [("lanes", "2")])
        try await store.alarms.raise(
          AlarmKind.breaker.field("shop", "apns", "production"), by: "w", lifeMs: 60_000,
          message: "trouble")
      }
      _ = try await stage.services.session.atHome { fleet throws(RedisError) in
        try await fleet.rates.draw(RateLimit(name: "app:shop", perSecond: 500), wanted: 1)
      }
      let answer = try await stage.ask(.get, "/v1/fleet")
      #expect(answer.status == 200 && answer.strings("workers", "worker") == ["w"])
      #expect(answer.strings("breakers", "network") == ["apns"])
      #expect(answer.strings("alarms", "message").contains("trouble"))
      #expect(answer.strings("rates", "app") == ["shop", "idle"])
      let drawn = (answer["rates"]?.arrayValue ?? []).map { $0.objectValue?["drawn_at"] }
      #expect(drawn[0]?.int64Value ?? 0 > 1_700_000_000_000 && drawn[1] == .null)
    }
  }

  @Test("outcomes and answer times are charted by the minute")
  func outcomes() async throws {
    try await RouteStage.with { stage in
      try await stage.run { store throws(RedisError) in
        let nowS = try await store.serverSeconds()
        let now = Minute.name(epochSeconds: nowS)
        for (field, count) in [
          ("shop|apns|accepted", "5"), ("other|apns|accepted", "2"), ("shop|fcm|failed", "1"),
          ("nonsense", "9"),
        ] {
          _ = try await store.connection.call(
            RedisCommand("HSET", store.keys.metrics(now), field, count))
        }
        try await store.metrics.recordLatency(
          [
            LatencyCount(network: .apns, boundMs: 10, count: 98),
            LatencyCount(network: .apns, boundMs: 500, count: 2),
          ], minute: now)
      }
      let query = [(name: "minutes", value: "3")]
      let answer = try await stage.ask(.get, "/v1/metrics/outcomes", query: query)
      #expect(answer.status == 200 && answer["minutes"] == .integer(3))
      #expect(answer.strings("outcomes", "outcome") == ["accepted", "failed"])
      let series = answer["outcomes"]?.arrayValue?.first?.objectValue
      // The minute may have ended meanwhile.
      let counts = (series?["counts"]?.arrayValue ?? []).map(\.int64Value)
      #expect(counts.count == 3 && counts.contains(7))
      let latency = answer["latency"]?.arrayValue?.first?.objectValue
      #expect(latency?["network"] == .string("apns"))
      #expect(latency?["p50_ms"]?.arrayValue?.contains(.integer(10)) == true)
      #expect(latency?["p99_ms"]?.arrayValue?.contains(.integer(500)) == true)
      #expect(latency?["p95_ms"]?.arrayValue?.contains(.null) == true)
      let own = try await stage.ask(
        .get, "/v1/metrics/outcomes", query: query + [(name: "app", value: "other")])
      #expect(own.strings("outcomes", "network") == ["apns"])
      for (name, value) in [("minutes", "0"), ("minutes", "1441"), ("app", "a b")] {
        let refused = try await stage.ask(
          .get, "/v1/metrics/outcomes", query: [(name: name, value: value)])
        #expect(refused.status == 400)
      }
    }
  }

  @Test("the timeline has the entries of the last minutes, the oldest first")
  func timeline() async throws {
    try await RouteStage.with { stage in
      try await stage.run { store throws(RedisError) in
        _ = try await store.connection.call(
          RedisCommand("XADD", store.keys.timeline, "1-0", "backlog", "1"))
        for backlog in ["2", "3"] {
          try await store.metrics.appendTimeline([("backlog", backlog), ("in_flight", "7")])
        }
      }
      let answer = try await stage.ask(.get, "/v1/timeline")
      let entries = answer["entries"]?.arrayValue ?? []
      #expect(entries.map { $0.objectValue?["backlog"]?.int64Value } == [2, 3])
      #expect(entries.allSatisfy { $0.objectValue?["in_flight"] == .integer(7) })
    }
  }

  @Test("a long timeline is thinned evenly, and keeps its end")
  func thinned() {
    let entries = (1...8_640).map { TimelineEntry(atMs: Int64($0), figures: [:]) }
    let thinned = TimelineChart.thinned(entries)
    #expect(thinned.count == ServerLimits.timelinePointsMax && thinned.last == entries.last)
    #expect(zip(thinned, thinned.dropFirst()).allSatisfy { $1.atMs - $0.atMs == 12 })
    #expect(TimelineChart.thinned(Array(entries.prefix(5))) == Array(entries.prefix(5)))
  }
}
