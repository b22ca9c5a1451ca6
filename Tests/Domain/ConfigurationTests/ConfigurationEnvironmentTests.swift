import Model
import PushpoolConfiguration
import Testing

@Suite struct ConfigurationEnvironmentTests {
  @Test("a variable goes before the file, for every scalar")
  func variablesWin() throws {
    let configuration = try ConfigurationTests.parse(
      ConfigurationTests.example,
      [
        "PUSHPOOL_REDIS_URL": "rediss://:pw@redis.example:7000/3",
        "PUSHPOOL_REDIS_PREFIX": "{pushpool}",
        "PUSHPOOL_REDIS_CA_FILE": "/ca.pem",
        "PUSHPOOL_WORKER_LANES": "4",
        "PUSHPOOL_WORKER_CONNECTIONS_PER_LANE": "5",
        "PUSHPOOL_WORKER_STREAMS_PER_CONNECTION": "6",
        "PUSHPOOL_WORKER_DRAIN_SECONDS": "7",
        "PUSHPOOL_WORKER_LEASE_SECONDS": "8",
        "PUSHPOOL_WORKER_REQUEST_TIMEOUT_SECONDS": "9",
        "PUSHPOOL_LOG_LEVEL": "debug",
        "PUSHPOOL_LOG_FORMAT": "json",
        "PUSHPOOL_APPS_SHOP_APNS_PRODUCTION_KEY_FILE": "/run/secrets/apns.p8",
        "PUSHPOOL_APPS_SHOP_FCM_ENDPOINT": "https://localhost:8443",
      ])
    #expect(
      configuration.redis
        == RedisConfiguration(
          url: try RedisURL("rediss://:pw@redis.example:7000/3"), caFile: "/ca.pem",
          prefix: "{pushpool}"))
    #expect(
      configuration.worker
        == WorkerConfiguration(
          lanes: 4, connectionsPerLane: 5, streamsPerConnection: 6, drainSeconds: 7,
          leaseSeconds: 8, requestTimeoutSeconds: 9))
    #expect(configuration.log == LogConfiguration(level: .debug, format: .json))
    let shop = try #require(configuration.app("shop"))
    #expect(
      shop.apns[.production]?.credential
        == .token(
          keyFile: "/run/secrets/apns.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
    #expect(shop.fcm?.access.endpoint?.port == 8443)
    #expect(configuration.unusedVariables.isEmpty)
  }

  @Test("a section that the file lacks can come from variables alone")
  func sectionFromVariables() throws {
    let configuration = try ConfigurationTests.parse(
      "apps: [{id: shop-eu}]",
      ["PUSHPOOL_APPS_SHOP_EU_FCM_SERVICE_ACCOUNT_FILE": "sa.json"])
    #expect(configuration.app("shop-eu")?.fcm?.serviceAccountFile == "etc/sa.json")
  }

  @Test("a bad variable is refused under its own name")
  func badVariable() {
    #expect(
      ConfigurationTests.complaint("worker: {lanes: 1}", ["PUSHPOOL_WORKER_LANES": "x"])
        == "PUSHPOOL_WORKER_LANES: worker.lanes: must be a whole number from 0 to 1024, is \"x\"")
  }

  @Test("an empty variable is refused: it would lead to another place than the one that was meant")
  func emptyVariable() throws {
    let refusal = "is set but empty: give it a value, or unset it"
    #expect(
      ConfigurationTests.complaint("worker: {lanes: 3}", ["PUSHPOOL_WORKER_LANES": ""])
        == "PUSHPOOL_WORKER_LANES: worker.lanes: \(refusal)")
    #expect(
      ConfigurationTests.complaint(
        "redis: {url: 'redis://10.0.0.1'}", ["PUSHPOOL_REDIS_URL": ""])
        == "PUSHPOOL_REDIS_URL: redis.url: \(refusal)")
    // One that is no setting stays a matter of the log.
    let configuration = try ConfigurationTests.parse("", ["PUSHPOOL_REDIS_PORT": ""])
    #expect(configuration.unusedVariables == ["PUSHPOOL_REDIS_PORT"])
  }

  @Test("variables that set nothing are named, not refused: Kubernetes makes such ones")
  func unusedVariables() throws {
    let configuration = try ConfigurationTests.parse(
      "",
      [
        "PUSHPOOL_REDIS_PORT": "tcp://10.0.0.1:6379", "PUSHPOOL_WORKER_LANE": "1", "HOME": "/",
        "PUSHPOOL_WORKER_LANES": "1",
      ])
    #expect(configuration.unusedVariables == ["PUSHPOOL_REDIS_PORT", "PUSHPOOL_WORKER_LANE"])
  }

  @Test("two apps that would go by the same variables are refused only when one is set")
  func ambiguousApps() throws {
    let yaml = """
      apps:
        - {id: shop-eu, fcm: {service_account_file: a}}
        - {id: shop.eu, fcm: {service_account_file: b}}
      """
    #expect(try ConfigurationTests.parse(yaml).apps.count == 2)
    let complaint = ConfigurationTests.complaint(
      yaml, ["PUSHPOOL_APPS_SHOP_EU_FCM_ENDPOINT": "https://x"])
    #expect(complaint.contains("goes by the same variables PUSHPOOL_APPS_SHOP_EU_"))
  }
}
