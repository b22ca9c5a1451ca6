import Foundation
import PushpoolConfiguration
import Testing

/// All errors of a configuration, where `load` stops at the first.
@Suite struct ConfigurationReadingTests {
  private static func examine(
    _ yaml: String, _ environment: [String: String] = [:]
  ) throws -> ConfigurationReading {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-reading-\(UUID().uuidString).yaml")
    try Data(yaml.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return Configuration.examine(file: file.path, environment: environment)
  }

  private static func places(_ reading: ConfigurationReading) -> [String] {
    reading.errors.map { "\($0.line.map { "\($0)" } ?? $0.file): \($0.field)" }
  }

  @Test("every field that is wrong is told once, and the others are read")
  func all() throws {
    let reading = try Self.examine(
      """
      redis:
        url: http://localhost
        prefix: "a b"
        accepted_risks: evictoin
        sentinel_user: a
      worker: {lanes: many, lane: 3, drain_seconds: 7}
      jobs: {retention_hours: 0}
      apps:
        - id: shop
          pushes_per_second: 0
          time_zone: Mars/Olympus
          apns:
            production: {key_id: ABC, team_id: "ABC!EFGHIJ", topic: a/b, proxy: ftp://x, proxy_user: u}
            development: {certificate_file: a, key_file: b}
          fcm: {messages_per_minute: 0}
          jpush: {app_key: "a b", master_secret_file: "-----BEGIN"}
        - id: shop
          fcm: {service_account_file: f}
        - id: bare
        - hello
        - fcm: {service_account_file: g, endpoint: "http://x"}
        - id: a/b
          apns: 3
      log: {level: loud, format: [1]}
      serves: {}
      serve:
        listen: here
        metrics_listen: there
        trusted_proxies: nowhere
        user_tokens:
          - {app: shop, algorithm: RS256, key_file: k}
          - {algorithm: HS256}
      """)
    let told = Set(reading.errors.map(\.field))
    #expect(told.count == reading.errors.count, "a field has one error")
    #expect(
      told == [
        "serves", "jobs.retention_hours", "redis.url", "redis.prefix", "redis.accepted_risks",
        "worker.lane", "worker.lanes", "apps[0].pushes_per_second", "apps[0].time_zone",
        "apps[0].apns.production.key_file", "apps[0].apns.production.key_id",
        "apps[0].apns.production.team_id", "apps[0].apns.production.topic",
        "apps[0].apns.production.proxy", "apps[0].apns.production.proxy_password_file",
        "apps[0].apns.development.certificate_file", "apps[0].apns.development.topic",
        "apps[0].fcm.service_account_file", "apps[0].fcm.messages_per_minute",
        "apps[0].jpush.app_key", "apps[0].jpush.master_secret_file", "apps[1].id", "apps[2].id",
        "apps[3]", "apps[4].id", "apps[4].fcm.endpoint", "apps[5].id", "apps[5].apns",
        "log.level", "log.format", "serve.listen", "serve.metrics_listen",
        "serve.trusted_proxies", "serve.user_tokens[0].algorithm", "serve.user_tokens[1].app",
      ])
    let configuration = try #require(reading.configuration)
    #expect(configuration.worker.drainSeconds == 7)
    #expect(configuration.worker.lanes == WorkerConfiguration().lanes)
    #expect(configuration.apps.count == 6)
    #expect(reading.omitted == 0)
  }

  @Test("what is missing since its name is misspelt is not told besides")
  func misspelt() throws {
    let reading = try Self.examine(
      """
      apps:
        - id: shop
          apsn: {}
        - idd: blog
          fcm: {service_acount_file: f}
        - id: news
          apns:
            production: {keyfile: k, key_id: ABC123DEFG, topic: t}
          jpush: {app_key: a, app_kye: b, master_secret: s}
        - {id: bare, time_zon: Asia/Tokyo}
      """)
    #expect(
      reading.errors.map(\.field) == [
        "apps[0].apsn", "apps[1].idd", "apps[1].fcm.service_acount_file",
        "apps[2].apns.production.keyfile", "apps[2].apns.production.team_id",
        "apps[2].jpush.app_kye", "apps[2].jpush.master_secret", "apps[3].time_zon", "apps[3].id",
      ])
  }

  @Test("a right configuration is the one that load gives, without an error")
  func right() throws {
    let yaml = "worker: {lanes: 3}\napps: [{id: a, fcm: {service_account_file: /f}}]"
    let reading = try Self.examine(yaml, ["PUSHPOOL_WORKER_LANES": "4"])
    #expect(reading.errors.isEmpty && reading.configuration?.worker.lanes == 4)
    #expect(Configuration.examine(file: nil, environment: [:]).configuration == Configuration())
  }

  @Test("a variable that is wrong is told by its name")
  func variables() throws {
    let reading = try Self.examine(
      "worker: {lanes: none}",
      ["PUSHPOOL_WORKER_LEASE_SECONDS": "", "PUSHPOOL_LOG_LEVEL": "loud"])
    #expect(
      Self.places(reading) == [
        "1: worker.lanes", "PUSHPOOL_WORKER_LEASE_SECONDS: worker.lease_seconds",
        "PUSHPOOL_LOG_LEVEL: log.level",
      ])
  }

  @Test(
    "the first error that is noted is the one that load throws",
    arguments: [
      "redsi: {}", "worker: 3", "worker: {lanes: many}", "[]", "a: *none",
      "redis: {password: hunter2}", "redis: {url: 'redis://:a@h', password_file: f}",
      "redis: {prefix: '}a{'}", "redis: {url: 'redis+cluster://n1'}", "redis: {sentinel_user: a}",
      "apps: {shop: {}}", "apps:\n  - fcm: {}", "apps:\n  - id: a/b", "apps:\n  - id: shop",
      "apps: [{id: a, apns: {sandbox: {}}}]", "apps: [{id: a, apns: {production: {topic: t}}}]",
      "apps: [{id: a, fcm: {service_account_file: f, proxy_user: u}}]",
      "apps: [{id: a, fcm: {service_account_file: f, proxy_password_file: p}}]",
      "apps: [{id: a, fcm: {service_account_file: f, proxy: 'http://x', proxy_user: 'a:b', "
        + "proxy_password_file: p}}]",
      "url:\"redis://:password@h\"\nother:\"x\"",
    ])
  func first(yaml: String) throws {
    let reading = try Self.examine(yaml)
    let file = reading.errors.first?.file ?? ""
    #expect(!reading.errors.isEmpty)
    #expect(throws: reading.errors[0]) { try Configuration.parse(yaml, file: file) }
  }

  @Test("what is no YAML, or no file, has one error and no configuration")
  func unreadable() throws {
    let reading = try Self.examine("worker: {lanes: 1")
    #expect(reading.errors.count == 1 && reading.configuration == nil)
    let missing = Configuration.examine(file: "/none/pushpool.yaml", environment: [:])
    #expect(missing.errors.map(\.field) == [""] && missing.configuration == nil)
  }

  @Test("some hundred errors are told, and the rest is counted")
  func bounded() throws {
    let apps = (0..<130).map { "  - id: app\($0)\n" }.joined()
    let reading = try Self.examine("apps:\n\(apps)")
    #expect(reading.errors.count == ConfigurationLimits.errorsMax)
    #expect(reading.omitted == 130 - ConfigurationLimits.errorsMax)
  }
}
