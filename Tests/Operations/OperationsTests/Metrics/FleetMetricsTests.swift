import LocalServices
import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Operations

@Suite struct FleetMetricsTests {
  private func run(_ store: ShardStore, _ words: String...) async throws(RedisError) {
    try await run(store, words)
  }

  private func run(_ store: ShardStore, _ words: [String]) async throws(RedisError) {
    var command = RedisCommand()
    for word in words { command.append(word) }
    _ = try await store.connection.call(command)
  }

  private func admit(
    _ store: ShardStore, _ id: String, users: Int, priority: Priority = .normal,
    startAtMs: Int64? = nil
  ) async throws {
    _ = try await store.jobs.enqueue(Array("{}".utf8), priority: priority)
    let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
    var admission = Admission(
      app: "shop", id: id, digest: "d", content: Array("{}".utf8),
      audience: Admission.Audience(lines: .users, recipients: users, segments: 1),
      timing: Admission.Timing(startAtMs: startAtMs))
    admission.audience.texts = [Array((0..<users).map { "u\($0)\n" }.joined().utf8)]
    _ = try await store.jobs.admit(entry, admission, consumer: "w")
  }

  /// The samples of some metrics, each line as it is written.
  private func lines(
    _ metrics: FleetMetrics, without: Set<Metric> = [], only: Set<Metric>? = nil
  ) -> [String] {
    let families = metrics.families.filter {
      !without.contains($0.metric) && only?.contains($0.metric) != false
    }
    return MetricsFormat.prometheus.text(families).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map(String.init)
  }

  @Test("everything that a fleet has is told")
  func everything() async throws {
    try await Shards.withStores { _, stores in
      let store = stores[0]
      let nowMs = try await store.serverSeconds() * 1_000
      try await run(
        store, "HSET", store.keys.totals, "shop|apns|accepted", "12", "shop|none|skipped", "3",
        "news|fcm|failed", "1", "since", "1790000000000", "about", "x")
      try await admit(store, "runs", users: 5, priority: .high)
      try await admit(store, "held", users: 2)
      _ = try await store.jobs.pause(app: "shop", id: "held")
      try await admit(store, "later", users: 1, priority: .low, startAtMs: 4_000_000_000_000)
      for _ in 0..<2 { _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .low) }
      try await run(store, "XADD", store.keys.dead, "*", "kind", "job")
      try await run(
        store, "HSET", store.keys.oldest, "at", String(nowMs), "low|since", String(nowMs - 9_000))
      try await store.alarms.raise(
        "breaker|shop|apns|production", by: "w", lifeMs: 60_000, message: "m")
      try await store.alarms.raise(
        "breaker|shop|apns|development", by: "w", lifeMs: 60_000, message: "m")
      try await store.alarms.raise(
        "topic_loop|shop|secret-topic", by: "w", lifeMs: 60_000, message: "m")
      try await store.alarms.raise("sunspots|shop|apns", by: "w", lifeMs: 60_000, message: "m")
      var figures = WorkerFigures()
      figures.cpuMs = 1_500
      figures.openFiles = 40
      figures.openFilesMax = 1_024
      var connections = WorkerFigures.Connections()
      connections.streamsUsed = 7
      connections.streamsAllowed = 1_000
      connections.count = 2
      connections.goAways = 1
      figures.connections = [.apns: connections]
      var times = DurationHistogram(boundsUs: [1_000])
      times.add(500_000)
      figures.answers = [.apns: times]
      try await store.workers.beat(
        worker: "w-1",
        fields: [
          ("host", "a"), ("version", "9.9"), ("rss_bytes", "5000"),
          ("started_at", "1790000001500"),
        ] + figures.fields)
      // Of an older version.
      try await store.workers.beat(
        worker: "w-0", fields: [("host", "b"), ("version", "0.3.0"), ("rss_bytes", "4000")])
      let metrics = try await FleetMetrics.read([store])
      #expect(
        lines(
          metrics,
          without: [.readAt, .oldestReady, .redisMemory, .redisMemoryMax, .redisEvicted]) == [
            #"pushpool_pushes_total{app="news",network="fcm",outcome="failed"} 1"#,
            #"pushpool_pushes_total{app="shop",network="none",outcome="skipped"} 3"#,
            #"pushpool_pushes_total{app="shop",network="apns",outcome="accepted"} 12"#,
            "pushpool_pushes_since_timestamp_seconds 1790000000.0",
            #"pushpool_queue_jobs{priority="high"} 0"#,
            #"pushpool_queue_jobs{priority="normal"} 0"#,
            #"pushpool_queue_jobs{priority="low"} 2"#,
            #"pushpool_queue_chunks{priority="high"} 1"#,
            #"pushpool_queue_chunks{priority="normal"} 1"#,
            #"pushpool_queue_chunks{priority="low"} 0"#,
            "pushpool_delayed_chunks 1",
            #"pushpool_backlog_recipients{priority="high"} 5"#,
            #"pushpool_backlog_recipients{priority="normal"} 0"#,
            #"pushpool_backlog_recipients{priority="low"} 0"#,
            #"pushpool_jobs{state="queued"} 2"#, #"pushpool_jobs{state="scheduled"} 1"#,
            #"pushpool_jobs{state="running"} 1"#, #"pushpool_jobs{state="paused"} 1"#,
            #"pushpool_jobs{state="cancelled"} 0"#,
            "pushpool_dead_letters 1", "pushpool_workers 2",
            #"pushpool_alarm{kind="breaker",app="shop",network="apns"} 2"#,
            #"pushpool_alarm{kind="other"} 1"#,
            #"pushpool_alarm{kind="topic_loop",app="shop"} 1"#,
            "pushpool_alarms 4",
            #"pushpool_worker_info{worker="w-0",host="b",version="0.3.0"} 1"#,
            #"pushpool_worker_info{worker="w-1",host="a",version="9.9"} 1"#,
            #"pushpool_provider_request_duration_seconds_bucket{worker="w-1",network="apns",le="0.001"} 1"#,
            #"pushpool_provider_request_duration_seconds_bucket{worker="w-1",network="apns",le="+Inf"} 1"#,
            #"pushpool_provider_request_duration_seconds_sum{worker="w-1",network="apns"} 0.0005"#,
            #"pushpool_provider_request_duration_seconds_count{worker="w-1",network="apns"} 1"#,
            #"pushpool_http2_streams{worker="w-1",network="apns",state="used"} 7"#,
            #"pushpool_http2_streams{worker="w-1",network="apns",state="allowed"} 1000"#,
            #"pushpool_http2_connections{worker="w-1",network="apns"} 2"#,
            #"pushpool_http2_goaways_total{worker="w-1",network="apns"} 1"#,
            #"pushpool_worker_cpu_seconds_total{worker="w-1"} 1.5"#,
            #"pushpool_worker_resident_memory_bytes{worker="w-0"} 4000"#,
            #"pushpool_worker_resident_memory_bytes{worker="w-1"} 5000"#,
            #"pushpool_worker_open_fds{worker="w-1"} 40"#,
            #"pushpool_worker_max_fds{worker="w-1"} 1024"#,
            #"pushpool_worker_start_time_seconds{worker="w-1"} 1790000001.5"#,
            #"pushpool_left_out{what="jobs"} 0"#, #"pushpool_left_out{what="pushes"} 0"#,
            #"pushpool_left_out{what="workers"} 0"#,
          ])
      #expect((9_000...60_000).contains(try #require(metrics.oldestMs[.low])))
      #expect(try #require(metrics.redis.first?.settings?.memoryBytes) > 100_000)
      #expect(metrics.nowMs >= nowMs)
      let text = lines(metrics).joined(separator: "\n")
      for secret in ["secret-topic", "runs", "held", "u0"] {
        #expect(!text.contains("\"\(secret)\""))
      }
      #expect(
        Set(metrics.families.map(\.metric)) == Set(Metric.allCases), "no metric is forgotten")
      if Promtool.isInstalled {
        let folder = try TemporaryFolder()
        defer { folder.close() }
        let file = folder.file("metrics")
        try PrivateFile.write(MetricsFormat.prometheus.text(metrics.families), to: file)
        #expect(try await Promtool.run("check", "metrics", reading: file).isEmpty)
      }
    }
  }

  @Test("what two shards have is added up, and a worker and an alarm about it are told once")
  func addsUp() async throws {
    try await Shards.withStores { _, stores in
      for (number, store) in stores.enumerated() {
        try await run(
          store, "HSET", store.keys.totals, "shop|apns|accepted", String(10 + number), "since",
          String(1_790_000_000_000 + number))
        try await admit(store, "j", users: 3)
        try await store.workers.beat(worker: "both", fields: [("host", "a"), ("version", "1")])
        try await store.workers.beat(worker: "only-\(number)", fields: [("version", "1")])
        // Each shard has a clock of its own.
        for field in ["memory|both", "clock|both"] {
          try await store.alarms.raise(field, by: "both", lifeMs: 60_000, message: "m")
        }
        try await run(store, "XADD", store.keys.dead, "*", "kind", "job")
      }
      let metrics = try await FleetMetrics.read(stores)
      let told = lines(
        metrics,
        only: [
          .pushes, .pushesSince, .backlogRecipients, .workers, .alarm, .alarms, .deadLetters,
        ])
      #expect(
        told == [
          #"pushpool_pushes_total{app="shop",network="apns",outcome="accepted"} 21"#,
          "pushpool_pushes_since_timestamp_seconds 1790000000.0",
          #"pushpool_backlog_recipients{priority="high"} 0"#,
          #"pushpool_backlog_recipients{priority="normal"} 6"#,
          #"pushpool_backlog_recipients{priority="low"} 0"#,
          "pushpool_dead_letters 2", "pushpool_workers 3", #"pushpool_alarm{kind="clock"} 2"#,
          #"pushpool_alarm{kind="memory"} 1"#, "pushpool_alarms 3",
        ])
      #expect(metrics.workers.keys.sorted() == ["both", "only-0", "only-1"])
      #expect(metrics.redis.count == 2)
    }
  }

  @Test("one reading takes some 20 commands, one more for each worker and each open job")
  func isCheap() async throws {
    try await Shards.withStores { _, stores in
      let store = stores[0]
      func commands() async throws -> Int {
        let info = try await store.connection.call(RedisCommand("INFO", "stats")).string ?? ""
        let line = info.split(whereSeparator: \.isNewline).first {
          $0.hasPrefix("total_commands_processed:")
        }
        return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
      }
      try await run(store, "HSET", store.keys.totals, "shop|apns|accepted", "1")
      for number in 0..<5 {
        try await admit(store, "j\(number)", users: 1)
        try await store.workers.beat(worker: "w\(number)", fields: [("version", "1")])
      }
      let before = try await commands()
      let metrics = try await FleetMetrics.read([store])
      let taken = try await commands() - before - 1
      #expect(metrics.workers.count == 5 && metrics.jobs[.running] == 5)
      #expect(taken <= 20 + 5 + 5, "\(taken) commands")
    }
  }

  @Test("an empty fleet has nothing that waits, and no workers")
  func empty() async throws {
    try await Shards.withStores { _, stores in
      let metrics = try await FleetMetrics.read(stores)
      let told = lines(metrics, only: [.workers, .oldestReady, .pushes, .alarm, .deadLetters])
      #expect(told == ["pushpool_dead_letters 0", "pushpool_workers 0"])
    }
  }

  @Test("what waits goes on to wait when nobody looks any more")
  func oldest() {
    func oldest(since: Int64?, looked: Int64?, isEmpty: Bool = false) -> Int64? {
      FleetMetrics.oldestMs(
        since: since, lookedAtMs: looked, isEmpty: isEmpty, nowMs: 1_000_000)
    }
    #expect(oldest(since: nil, looked: nil) == nil)
    #expect(oldest(since: 990_000, looked: 999_000) == 10_000)
    #expect(oldest(since: 500_000, looked: 600_000) == 500_000)
    #expect(oldest(since: 500_000, looked: 600_000, isEmpty: true) == 0)
    // Nothing waited then. What is in the streams is in a worker's hands, or came since.
    #expect(oldest(since: nil, looked: 995_000) == 0)
    #expect(oldest(since: nil, looked: 600_000) == 400_000)
    #expect(oldest(since: nil, looked: 600_000, isEmpty: true) == 0)
    #expect(oldest(since: 1_500_000, looked: 999_000) == 0)
  }

  @Test("what is too much is left out, and it is said how much")
  func isBounded() async throws {
    try await Shards.withStores { _, stores in
      let store = stores[0]
      for first in stride(from: 0, to: OperationsLimits.pushSeriesMax + 2_000, by: 1_000) {
        let fields = (first..<first + 1_000).flatMap { ["a\($0)|fcm|accepted", "1"] }
        try await run(store, ["HSET", store.keys.totals] + fields)
      }
      let now = try await store.workers.beat(worker: "w-000", fields: [("version", "1")])
      let beats = (1...300).flatMap { [String(now), "w-\(String($0 + 1_000).dropFirst())"] }
      try await run(store, ["ZADD", store.keys.workers] + beats)
      let jobs = (0..<1_500).map { "shop:j\($0)" }
      try await run(store, ["SADD", store.keys.open] + jobs)
      let metrics = try await FleetMetrics.read([store])
      #expect(metrics.workerCount == 301 && metrics.workers.count == 200)
      #expect(lines(metrics, only: [.pushes]).count == OperationsLimits.pushSeriesMax)
      let out = lines(metrics, only: [.leftOut])
      #expect(out.contains(#"pushpool_left_out{what="workers"} 101"#), "\(out)")
      #expect(out.contains(#"pushpool_left_out{what="jobs"} 500"#), "\(out)")
      #expect(!out.contains(#"pushpool_left_out{what="pushes"} 0"#), "\(out)")
    }
  }

  @Test("keys of another type, and foreign words in a worker's record, spoil nothing of the rest")
  func foreign() async throws {
    try await Shards.withStores { _, stores in
      let store = stores[0]
      for key in [store.keys.totals, store.keys.oldest, store.keys.open, store.keys.alarms] {
        try await run(store, "SET", key, "x")
      }
      let now = try await store.serverSeconds() * 1_000
      let long = String(repeating: "n", count: 200)
      for name in ["w\"\\\n{}", long] {
        try await run(store, "ZADD", store.keys.workers, String(now), name)
        try await run(
          store, "HSET", store.keys.worker(name), "host", long, "version", "1\n# EOF",
          "rss_bytes", "many", "started_at", "-5", "cpu_ms", "1", "networks", "x:1",
          "answers_apns", long)
      }
      try await run(store, "XADD", store.keys.dead, "*", "kind", "job")
      let metrics = try await FleetMetrics.read([store])
      let told = lines(
        metrics,
        only: [.deadLetters, .workers, .workerInfo, .cpu, .memory, .started, .requestDuration])
      #expect(
        told == [
          "pushpool_dead_letters 1", "pushpool_workers 2",
          #"pushpool_worker_info{worker="w\"\\\n{}",version="1\n# EOF"} 1"#,
          #"pushpool_worker_cpu_seconds_total{worker="w\"\\\n{}"} 0.001"#,
          #"pushpool_worker_start_time_seconds{worker="w\"\\\n{}"} 0.0"#,
        ])
      #expect(lines(metrics, only: [.leftOut]).contains(#"pushpool_left_out{what="workers"} 1"#))
    }
  }
}
