import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Stage
import Store
import Testing
import TestSupport

@testable import Operations

/// What the doctor says of a Redis.
@Suite struct RedisExaminationTests {
  private static func has(
    _ examination: RedisExamination, _ severity: DoctorFinding.Severity, _ words: String
  ) -> Bool {
    examination.findings.contains { $0.severity == severity && $0.sentence.contains(words) }
  }

  @Test(
    "a version with functions is well, an older one is an error",
    arguments: [
      ("7.0.15", DoctorFinding.Severity.good, "is version 7.0.15"),
      ("8.2.1", .good, "is version 8.2.1"),
      ("6.2.14", .error, "is version 6.2.14, and its functions are needed"),
      ("", .note, "does not tell its version"), ("seven", .note, "does not tell its version"),
    ])
  func version(text: String, severity: DoctorFinding.Severity, words: String) {
    var examination = RedisExamination()
    let info = "# Server\r\nredis_version:\(text)\r\nos:Linux\r\n"
    examination.judge(versionsIn: info)
    #expect(Self.has(examination, severity, words), "\(examination.findings)")
    #expect(severity != .error || examination.findings.first?.remedy?.contains("7.0") == true)
  }

  @Test(
    "a Valkey is called by its own name and version, not by those of the Redis that it speaks as")
  func valkey() {
    var examination = RedisExamination()
    examination.judge(
      versionsIn:
        "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n")
    #expect(
      Self.has(examination, .good, "is Valkey 9.1.2, which speaks as Redis 7.2.4"),
      "\(examination.findings)")
  }

  @Test(
    "a place whose only address may go away is told, and one with several is not",
    arguments: [
      ("redis://a", true, "is a node of a Redis Cluster"), ("redis://a", false, nil),
      ("redis+cluster://a", true, "is a node of a Redis Cluster"),
      ("redis+cluster://a,b", true, nil),
      ("redis+sentinel://a/m", false, "is found by one Sentinel"),
      ("redis+sentinel://a,b/m", false, nil), ("unix:///a", false, nil),
    ])
  func place(url: String, isCluster: Bool, words: String?) throws {
    var examination = RedisExamination()
    examination.judge(try RedisURL(url).server, isCluster: isCluster)
    #expect(examination.findings.count == (words == nil ? 0 : 1))
    if let words { #expect(Self.has(examination, .note, words), "\(examination.findings)") }
    if let remedy = examination.findings.first?.remedy {
      #expect(remedy.hasPrefix("name several nodes (") || remedy.hasPrefix("name all sentinels ("))
    }
  }

  @Test("clocks that differ by more than workers bear are a warning, in either direction")
  func clocks() {
    for (aheadMs, words) in [(40_000, "ahead"), (-40_000, "behind")] as [(Int64, String)] {
      var examination = RedisExamination()
      examination.judge(aheadMs: aheadMs)
      #expect(examination.aheadMs == aheadMs)
      #expect(Self.has(examination, .warning, words), "\(examination.findings)")
    }
    var near = RedisExamination()
    near.judge(aheadMs: -120)
    #expect(Self.has(near, .good, "has the time of this machine"))
    var far = RedisExamination()
    far.judge(aheadMs: .min)
    #expect(Self.has(far, .warning, "behind"))
  }

  @Test("settings that lose work, and a memory that is nearly full, are told with what to do")
  func settings() {
    var examination = RedisExamination()
    examination.judge(
      RedisSettings(
        info: "used_memory:95\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n"
          + "aof_enabled:0\r\nrole:master\r\n"), accepting: [])
    #expect(Self.has(examination, .error, "maxmemory-policy allkeys-lru"))
    #expect(Self.has(examination, .warning, "appendonly no"))
    #expect(Self.has(examination, .warning, "of its maxmemory"))
    #expect(examination.findings.allSatisfy { $0.remedy != nil })
    var accepted = RedisExamination()
    accepted.judge(
      RedisSettings(info: "used_memory:5\r\nmaxmemory:100\r\naof_enabled:0\r\nrole:master\r\n"),
      accepting: [.noAppendOnlyFile])
    #expect(accepted.findings.allSatisfy { $0.severity == .good })
  }

  @Test("a user that may only look lacks the worker's rights, each of which is named once")
  func rights() async throws {
    var options = RedisServer.Options()
    options.configuration = [
      "user looker on nopass resetkeys %R~pushpool:* -@all +@read -@dangerous +ping +time "
        + "+select +client|setname"
    ]
    try await DoctorStage.with(options) { stage in
      var text = stage.text
      let socket = stage.stage.redis.socketPath
      text.redisURL = "unix://looker:@\(socket)"
      let yaml = text.text(stage.stage.keys)
      let looker = try await stage.diagnosis(of: yaml, isOffline: true)
      let needed = "lacks rights that the work needs: +fcall, +set, "
      #expect(looker.has(.error, "redis", needed), "\(looker.about("redis"))")
      #expect(looker.has(.warning, "redis", "lacks rights that help: +info, +function|delete"))
      #expect(looker.has(.note, "redis", "may not run INFO"))
      #expect(looker.has(.note, "redis", "does not tell this user which functions"))
      #expect(looker.first?.remedy?.contains("the rights of pushpool-worker") == true)
      // Without apps it is a person's configuration.
      let person = try await stage.diagnosis(
        of: "redis: {url: 'unix://looker:@\(socket)'}", isOffline: true)
      #expect(!person.has(.warning, "redis", "function|delete"))
      #expect(
        person.about("redis").contains { $0.remedy?.contains("pushpool-operator") == true })
    }
  }

  @Test("a user that may not ask for the time lacks a right, and the rest is looked at")
  func noTime() async throws {
    var options = RedisServer.Options()
    options.configuration = ["user timeless on nopass ~* &* +@all -time"]
    try await DoctorStage.with(options) { stage in
      var text = stage.text
      text.redisURL = "unix://timeless:@\(stage.stage.redis.socketPath)"
      let diagnosis = try await stage.diagnosis(
        of: text.text(stage.stage.keys), isOffline: true)
      #expect(!diagnosis.lacksRedis)
      #expect(
        diagnosis.has(.error, "redis", "lacks rights that the work needs: +time"),
        "\(diagnosis.about("redis"))")
      #expect(diagnosis.has(.note, "redis", "does not tell this user its time"))
      #expect(diagnosis.has(.good, "redis", "keeps what it confirms"))
      #expect(diagnosis.needs.count == 1)
    }
  }

  @Test("a key of another type, refused writes and functions are told")
  func states() async throws {
    var options = RedisServer.Options()
    options.configuration = ["min-replicas-to-write 1"]
    try await DoctorStage.with(options) { stage in
      let diagnosis = try await stage.diagnosis(
        of: stage.text.text(stage.stage.keys), isOffline: true)
      #expect(diagnosis.has(.error, "redis", "nothing can be written"))
    }
    try await DoctorStage.with { stage in
      let endpoint = stage.stage.redis.endpoint
      try await stage.lane.run { lane in
        let redis = try await lane.connect(endpoint, library: StoreLibrary.library)
        _ = try await redis.call(RedisCommand("SET", "pushpool:delayed", "x"))
        let store = ShardStore(connection: redis, prefix: "pushpool")
        _ = try await store.libraries.sweep()
      }
      let diagnosis = try await stage.diagnosis(
        of: stage.text.text(stage.stage.keys), isOffline: true)
      #expect(diagnosis.has(.error, "redis", "pushpool:delayed holds a string, not a zset"))
      #expect(diagnosis.has(.good, "redis", "has the functions of this version"))
    }
  }

  /// Puts an app into Redis.
  /// - Parameter jobs: its settings for how long jobs are kept; nil for none.
  private static func put(
    _ id: String, keys: SealingKeys, jobs: JSONValue? = nil, in stage: DoctorStage
  ) async throws {
    var object: JSONObject = [
      "jpush": ["app_key": .string("abc"), "master_secret": .string("hidden")]
    ]
    object["jobs"] = jobs
    let document = try AppDocument(.object(object), id: id)
    let value = try AppRecord(
      document, id: id, instead: nil, keys: keys, nowMs: 1, by: "test"
    ).value()
    let endpoint = stage.stage.redis.endpoint
    try await stage.lane.run { lane in
      let redis = try await lane.connect(endpoint, library: StoreLibrary.library)
      _ = try await FleetStore(connection: redis, prefix: "pushpool").apps
        .put(id, value: value, .put)
    }
  }

  /// Looks at a Redis in which a million jobs have ended within the last hour, the last of which stands there.
  /// - Parameter jobs: the settings of an app in Redis that had this job; nil where one of the configuration had it.
  private static func afterAMillion(
    memoryBytesMax: Int, failed: Int = 0, appInRedis jobs: JSONValue? = nil,
    _ body: (Diagnosis) throws -> Void
  ) async throws {
    var options = RedisServer.Options()
    options.memoryBytesMax = memoryBytesMax
    try await DoctorStage.with(options) { stage in
      var text = stage.text.text(stage.stage.keys)
      if let jobs {
        let keys = SealingKeys(.random())
        let file = stage.stage.folder.file("apps.key")
        try PrivateFile.write(keys.newest.fileText, to: file)
        text += "\napps_in_redis: {key_files: ['\(file)']}\n"
        try await put("news", keys: keys, jobs: jobs, in: stage)
      }
      let app = jobs == nil ? "shop" : "news"
      let endpoint = stage.stage.redis.endpoint
      try await stage.lane.run { lane in
        let redis = try await lane.connect(endpoint)
        let store = ShardStore(connection: redis, prefix: "pushpool")
        let nowMs = try await store.serverSeconds() * 1_000
        _ = try await redis.call(
          RedisCommand(
            "XADD", store.keys.timeline, "\(nowMs - 3_600_000)-1", "ended", "0"))
        _ = try await redis.call(
          RedisCommand(
            "XADD", store.keys.finished, "*", "app", app, "id", "a", "state", "done", "total",
            "1", "accepted", "\(1 - failed)", "failed", "\(failed)", "finished_at", "\(nowMs)"))
        _ = try await redis.call(
          RedisCommand(
            "XSETID", store.keys.finished, "\(nowMs + 60_000)-1", "ENTRIESADDED", "1000000",
            "MAXDELETEDID", "0-1"))
      }
      try body(try await stage.diagnosis(of: text, isOffline: true))
    }
  }

  @Test("records that fill the memory are told as workers tell them")
  func forecast() async throws {
    try await Self.afterAMillion(memoryBytesMax: 8 << 20) { diagnosis in
      #expect(
        diagnosis.has(.warning, "redis", "the records of ended jobs come to"),
        "\(diagnosis.about("redis"))")
    }
  }

  @Test(
    "records that will do are told with their figures: those of jobs that failed are kept for a week",
    arguments: [(0, "kept for 24.0 h in the mean"), (1, "kept for 168.0 h in the mean")])
  func forecastThatWillDo(failed: Int, kept: String) async throws {
    try await Self.afterAMillion(memoryBytesMax: 80 << 30, failed: failed) { diagnosis in
      #expect(
        diagnosis.has(.good, "redis", kept)
          && diagnosis.has(.good, "redis", "maxmemory is 80.0 GiB"),
        "\(diagnosis.about("redis"))")
    }
  }

  @Test("the records of an app in Redis are reckoned for as long as the app says")
  func forecastOfRedisApp() async throws {
    try await Self.afterAMillion(
      memoryBytesMax: 80 << 30, appInRedis: ["named_retention_hours": .integer(48)]
    ) { diagnosis in
      #expect(
        diagnosis.has(.good, "redis", "kept for 48.0 h in the mean"),
        "\(diagnosis.about("redis"))")
    }
  }
}
