import Foundation
import Model
import PushpoolConfiguration
import Testing

@Suite struct ConfigurationTests {
  /// An app with both environments of APNs, FCM and JPush.
  static let example = """
    redis: {url: redis://127.0.0.1:6379/0, prefix: pushpool}
    worker: {lanes: 0, connections_per_lane: 2, streams_per_connection: 1000, drain_seconds: 25}
    apps:
      - id: shop
        apns:
          production:  {key_file: AuthKey_ABC.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ, topic: com.example.shop}
          development: {certificate_file: dev.p12, password_file: dev.pass, topic: com.example.shop}
        fcm:   {service_account_file: shop.json}
        jpush: {app_key: "0123456789abcdef01234567", master_secret_file: jpush.secret}
    """

  static func parse(
    _ yaml: String, _ environment: [String: String] = [:]
  ) throws -> Configuration {
    try Configuration.parse(yaml, file: "etc/pushpool.yaml", environment: environment)
  }

  /// The complaint about a bad configuration.
  static func complaint(
    _ yaml: String, _ environment: [String: String] = [:]
  ) -> String {
    do {
      _ = try parse(yaml, environment)
      return "accepted"
    } catch { return "\(error)" }
  }

  static func app(apns: String) -> String {
    """
    apps:
      - id: shop
        apns:
          production:
            \(apns.split(separator: "\n").joined(separator: "\n        "))
    """
  }

  @Test("a file with every network is read")
  func example() throws {
    let configuration = try Self.parse(Self.example)
    #expect(configuration.redis == RedisConfiguration())
    #expect(configuration.worker == WorkerConfiguration())
    #expect(configuration.log == LogConfiguration(level: .info, format: .auto))
    let shop = try #require(configuration.app("shop"))
    #expect(
      shop.apns[.production]
        == APNsConfiguration(
          credential: .token(
            keyFile: "etc/AuthKey_ABC.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
          topic: "com.example.shop"))
    #expect(
      shop.apns[.development]
        == APNsConfiguration(
          credential: .certificate(file: "etc/dev.p12", passwordFile: "etc/dev.pass"),
          topic: "com.example.shop"))
    #expect(shop.fcm == FCMConfiguration(serviceAccountFile: "etc/shop.json"))
    #expect(
      shop.jpush
        == JPushConfiguration(
          appKey: "0123456789abcdef01234567", masterSecretFile: "etc/jpush.secret"))
    #expect(configuration.app("other") == nil)
  }

  @Test("without a file everything has its default")
  func defaults() throws {
    let configuration = try Configuration.load(file: nil, environment: [:])
    #expect(configuration == Configuration())
    #expect(configuration.redis.url.description == "redis://127.0.0.1:6379/0")
    #expect(configuration.worker.leaseSeconds == 30)
    #expect(configuration.worker.requestTimeoutSeconds == 10)
  }

  @Test("an endpoint, a CA file and a proxy are read for every provider")
  func access() throws {
    let access =
      "endpoint: \"https://[::1]:8443\", ca_file: /ca.pem, proxy: \"http://proxy:3128\", "
      + "proxy_user: push, proxy_password_file: /p"
    let yaml = """
      apps:
        - id: shop
          apns: {development: {key_file: /k, key_id: ABC123DEFG, team_id: DEF123GHIJ, topic: t, \(access)}}
          fcm: {service_account_file: /s, token_endpoint: "https://localhost:9/token", \(access)}
          jpush: {app_key: abc, master_secret_file: /m, \(access)}
      """
    let expected = Access(
      endpoint: try ServiceURL("https://[::1]:8443"), caFile: "/ca.pem",
      proxy: try ProxyURL("http://proxy:3128"),
      proxyLogin: Access.ProxyLogin(user: "push", passwordFile: "/p"))
    let shop = try #require(try Self.parse(yaml).app("shop"))
    #expect(shop.apns[.development]?.access == expected)
    #expect(shop.fcm?.access == expected)
    #expect(shop.jpush?.access == expected)
    #expect(shop.fcm?.tokenEndpoint?.path == "/token")
    #expect(expected.endpoint?.host == "::1")
    #expect(expected.endpoint?.description == "https://[::1]:8443")
  }

  @Test("a field of a former version stops no worker", arguments: ["curl", "native"])
  func formerFields(transport: String) throws {
    let fields = "service_account_file: f, proxy: 'http://x'"
    #expect(
      try Self.parse("apps: [{id: a, fcm: {\(fields), transport: \(transport)}}]")
        == Self.parse("apps: [{id: a, fcm: {\(fields)}}]"))
  }

  @Test("a wrong key id is refused with file, line, field and what is wrong")
  func wrongKeyID() {
    let yaml = """
      apps:
        - id: shop
          apns:
            production:
              key_file: a.p8
              key_id: ABC123DEF
              team_id: DEF123GHIJ
              topic: com.example.shop
      """
    #expect(
      Self.complaint(yaml)
        == "etc/pushpool.yaml:6: apps[0].apns.production.key_id: must be 10 letters or digits, is 9"
    )
  }

  @Test(
    "a bad file is refused with the place and the reason",
    arguments: [
      ("redsi: {}", "etc/pushpool.yaml:1: redsi: is not a known field; did you mean \"redis\"?"),
      ("\n\nworker: {lane: 2}", ":3: worker.lane: is not a known field; did you mean \"lanes\"?"),
      ("worker: 3", ":1: worker: must be a mapping of names to values, is a single value"),
      ("worker: {lanes: many}", ":1: worker.lanes: must be a whole number from 0 to 1024"),
      ("worker: {lanes: -1}", "worker.lanes: must be a whole number"),
      ("worker: {lanes: 1.5}", "worker.lanes: must be a whole number"),
      ("worker: {lanes: [1]}", "worker.lanes: must be a single value, is a list"),
      ("worker: {lanes: }", "worker.lanes: must be a single value, is empty"),
      ("worker: {lanes: 99999999999999999999}", "worker.lanes: must be a whole number"),
      ("worker: {lanes: 1, lanes: 2}", ":1: \"lanes\" occurs twice in one mapping"),
      ("worker: {lanes: 1", ": is not YAML: did not find expected ',' or '}'"),
      ("a: b\n c: d", ":2: is not YAML: "),
      ("a: *none", ":1: is not YAML: found undefined alias"),
      ("--- {}\n--- {}", "is not YAML: "),
      ("[]", ":1: must be a mapping of names to values, is a list"),
      ("log: {level: verbose}", "log.level: must be one of trace, debug, info"),
      ("log: {format: jsn}", "is \"jsn\"; did you mean \"json\"?"),
      ("redis: {url: http://localhost}", "redis.url: must begin with redis://"),
      (
        "redis: {url: 'unix://a.sock'}",
        "redis.url: must name an absolute path of at most 107 bytes after unix://"
      ),
      ("redis: {password: hunter2}", "secrets are files, write its path as password_file"),
      ("redis: {url: 'redis://:a@h', password_file: f}", "must not stand beside a password"),
      ("redis: {prefix: 'a b'}", "redis.prefix: must be 1 to 64"),
      ("redis: {prefix: '}a{'}", "must have one hash tag at most"),
      ("redis: {prefix: 'a{}'}", "must have one hash tag at most"),
      (
        "redis: {url: 'redis+cluster://n1'}",
        "redis.prefix: must be a hash tag, such as {pushpool}, beside redis+cluster://"
      ),
      (
        "redis: {sentinel_user: a}",
        "redis.sentinel_user: must stand beside sentinels in redis.url"
      ),
      (
        "redis: {url: 'redis://h', sentinel_password_file: f}",
        "redis.sentinel_password_file: must stand beside sentinels in redis.url"
      ),
      ("apps: {shop: {}}", "apps: must be a list of apps"),
      ("apps:\n  - fcm: {}", ":2: apps[0].id: is missing"),
      ("apps:\n  - id: a/b", ":2: apps[0].id: must be 1 to 64 ASCII letters"),
      ("apps:\n  - id: shop", ":2: apps[0].id: \"shop\" has no apns, fcm or jpush"),
      ("apps: [{id: shop, fcm: {}}]", "apps[0].fcm.service_account_file: is missing"),
      (
        "apps: [{id: a, fcm: {service_account_file: f}}, {id: a, fcm: {service_account_file: f}}]",
        "apps[1].id: \"a\" occurs twice"
      ),
      ("apps: [{id: a, apns: {sandbox: {}}}]", "apps[0].apns.sandbox: is not a known field"),
      (
        "apps: [{id: a, jpush: {master_secret_file: s}}]",
        "jpush.app_key: is missing: the AppKey of the JPush console"
      ),
      ("apps: [{id: a, jpush: {master_secret: s}}]", "write its path as master_secret_file"),
      ("apps: [{id: a, jpush: {app_key: '', master_secret_file: s}}]", "jpush.app_key: must be"),
      (
        "apps: [{id: a, fcm: {service_account_file: '{\"type\": 1}'}}]",
        "must be the path of a file, not what is in it"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, endpoint: 'http://x'}}]",
        "fcm.endpoint: must begin with https://"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, endpoint: 'https://x:0'}}]",
        "fcm.endpoint: must be https://host:port, with a port from 1 to 65535"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, token_endpoint: 'https://x/a b'}}]",
        "fcm.token_endpoint: must have a path of printable ASCII only"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy: 'socks5://x:0'}}]",
        "fcm.proxy: must be socks5://host:port, with a port from 1 to 65535"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, endpoint: 'https://x/v1'}}]",
        "fcm.endpoint: must be https://host:port without a path"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy: 'http://u:p@x'}}]",
        "fcm.proxy: must not hold a user or password: secrets are files, write proxy_user"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy: 'http://x', proxy_user: u}}]",
        "fcm.proxy_password_file: is missing"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy: 'http://x', proxy_password_file: u}}]",
        "fcm.proxy_user: is missing"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy: 'http://x', proxy_password: secret}}]",
        "write its path as proxy_password_file"
      ),
      (
        "apps: [{id: a, fcm: {service_account_file: f, proxy_user: u, proxy_password_file: p}}]",
        "fcm.proxy_user: must stand beside a proxy"
      ),
    ])
  func refused(yaml: String, expected: String) {
    let complaint = Self.complaint(yaml)
    #expect(complaint.contains(expected), "\(complaint)")
    #expect(complaint.hasPrefix("etc/pushpool.yaml"))
  }

  @Test(
    "half a credential of APNs is refused, naming what is missing or too much",
    arguments: [
      ("topic: t", "production.key_file: is missing: give key_file, key_id and team_id, or a"),
      ("key_file: k\nkey_id: ABC123DEFG\nteam_id: DEF123GHIJ", "production.topic: is missing"),
      ("key_file: k\nteam_id: DEF123GHIJ\ntopic: t", "production.key_id: is missing"),
      (
        "key_file: k\nkey_id: ABC123DEFG\ntopic: t",
        "team_id: is missing: the ten characters of the Apple team"
      ),
      (
        "key_id: ABC123DEFG\nteam_id: DEF123GHIJ\ntopic: t",
        "key_file: is missing: the .p8 signing key"
      ),
      ("key_file: k\ncertificate_file: c\ntopic: t", "must not stand beside a key"),
      ("password_file: p\ntopic: t", "production.certificate_file: is missing"),
      ("key_file: k\nkey_id: ABC123DEF/\nteam_id: DEF123GHIJ\ntopic: t", "something else"),
      ("certificate_file: c\ntopic: \"a\\nb\"", "production.topic: must be a bundle id"),
      ("key: abc", "secrets are files, write its path as key_file"),
    ])
  func halfACredential(apns: String, expected: String) {
    let complaint = Self.complaint(Self.app(apns: apns))
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "a limit of 0 that would block for ever is refused with a reason (gorush#536)",
    arguments: [
      ("connections_per_lane", "a lane without a connection sends nothing"),
      ("streams_per_connection", "a connection without streams would wait for ever"),
      ("lease_seconds", "every chunk would be taken from its owner at once"),
      ("request_timeout_seconds", "every request would time out at once"),
      ("unrouted_seconds", "a job would be given up while"),
    ])
  func zeroIsRefused(field: String, reason: String) {
    let complaint = Self.complaint("worker: {\(field): 0}")
    #expect(complaint.contains("worker.\(field): must not be 0: \(reason)"), "\(complaint)")
    #expect(Self.complaint("worker: {\(field): 00}").contains("must not be 0"))
    #expect(Self.complaint("worker: {\(field): 1}") == "accepted")
  }

  @Test("no lanes means one per core, no drain hands everything back")
  func zeroIsMeant() throws {
    let worker = try Self.parse("worker: {lanes: 0, drain_seconds: 0}").worker
    #expect(worker.lanes == 0)
    #expect(worker.drainSeconds == 0)
  }

  @Test("deep nesting is refused, not followed")
  func deepNesting() {
    for text in ["[", "{a: ", "- "] {
      let complaint = Self.complaint("redis: " + String(repeating: text, count: 100_000))
      #expect(complaint.hasPrefix("etc/pushpool.yaml:"), "\(complaint)")
    }
  }

  @Test("a message repeats neither a pasted key nor the file's text")
  func secretsStayOut() {
    let key = "-----BEGIN PRIVATE KEY----- hunter2"
    #expect(!Self.complaint(Self.app(apns: "key_file: \"\(key)\"")).contains("hunter2"))
    #expect(!Self.complaint("redis: {url: 'redis://:hunter2@'}").contains("hunter2"))
    #expect(!Self.complaint("redis: {password: hunter2}").contains("hunter2"))
    #expect(!Self.complaint("redis: {password: 'hunter2").contains("hunter2"))
    #expect(!Self.complaint("x: hunter2\nx: hunter2").contains("hunter2"))
    // A URL with a password in it, pasted where it does not belong.
    for place in ["worker: {lanes: ", "log: {level: ", "log: {format: "] {
      let complaint = Self.complaint("\(place)\"redis://:hunter2@localhost\"}")
      #expect(!complaint.contains("hunter2") && complaint.contains("must be"), "\(complaint)")
    }
    #expect(!Self.complaint("\":hunter2@h\": 1\n\":hunter2@h\": 2").contains("hunter2"))
  }

  @Test("a value glued to its name, which may be a secret, is not repeated")
  func keepsGluedSecrets() {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.parse(
        "redis: {url:\"redis://:hunter2@localhost\"}", file: "pushpool.yaml")
    }
    #expect(error.map { "\($0)".contains("hunter2") } == false)
    #expect(error?.message.contains("space") == true)
  }
}
