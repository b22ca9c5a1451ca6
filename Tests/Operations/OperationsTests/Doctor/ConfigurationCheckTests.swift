import Glibc
import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Store
import Testing

/// What is found in a configuration and in the files that it names, without Redis and networks.
@Suite struct ConfigurationCheckTests {
  private static func check(
    _ yaml: String, in folder: TemporaryFolder, _ environment: [String: String] = [:]
  ) throws -> ConfigurationCheck {
    let file = folder.file("pushpool.yaml")
    try PrivateFile.write(yaml, to: file)
    return ConfigurationCheck(file: file, environment: environment)
  }

  /// The sentence about a field.
  private static func message(_ check: ConfigurationCheck, _ field: String) -> String {
    check.errors.first { $0.field == field }.map { "\($0)" } ?? "no error of \(field)"
  }

  @Test("a right configuration with all its files has no error and no warning")
  func right() throws {
    let folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 8443)
    let place = "https://localhost:8443"
    let text = ConfigurationText(
      redisURL: "redis://127.0.0.1",
      apps: [
        .init(
          apns: [.production: place, .development: place],
          others: ConfigurationText.App.others(at: place))
      ])
    let check = try Self.check(text.text(keys), in: folder)
    #expect(check.errors.isEmpty && check.warnings.isEmpty && check.isRight)
    #expect(check.json.objectValue?["ok"]?.boolValue == true)
    #expect(check.json.objectValue?["apps"]?.int64Value == 1)
  }

  @Test("a key for apps in Redis is looked into, and apps that stand there are enough")
  func appKeys() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write("c2hvcnQ=", to: folder.file("apps.key"))
    let text = "apps_in_redis: {key_files: [apps.key]}"
    let check = try Self.check(text, in: folder)
    #expect(
      Self.message(check, "apps_in_redis.key_files").contains("must be a key of 32 bytes"),
      "\(check.errors)")
    try PrivateFile.write(SealingKey.random().fileText, to: folder.file("apps.key"))
    let right = try Self.check(text, in: folder)
    #expect(right.isRight && right.warnings.isEmpty, "\(right.errors) \(right.warnings)")
  }

  @Test("the content of every file is looked at, also behind an error of the same app")
  func contents() throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(folder: folder.path)
    let client = try authority.issueClient(
      commonName: "shop", fileName: "push", p12Password: "right")
    for (name, text) in [
      ("nonsense", "nonsense"), ("empty", ""), ("account", #"{"type": "service_account"}"#),
      ("wrong", "wrong"),
    ] {
      try PrivateFile.write(text, to: folder.file(name))
    }
    let check = try Self.check(
      """
      redis: {url: "rediss+sentinel://h/main", password_file: empty, ca_file: nonsense,
        sentinel_password_file: empty, sentinel_ca_file: nonsense}
      apps:
        - id: shop
          apns:
            production: {key_file: nonsense, key_id: ABC, team_id: DEF123GHIJ, topic: t}
            development: {certificate_file: push.p12, password_file: wrong, topic: t, ca_file: nonsense}
          fcm: {service_account_file: account, ca_file: none.pem}
          jpush: {app_key: a, master_secret_file: empty}
      """, in: folder)
    #expect(client.p12File == folder.file("push.p12"))
    #expect(
      check.errors.map(\.field) == [
        "redis.password_file", "redis.ca_file", "redis.sentinel_password_file",
        "redis.sentinel_ca_file", "apps[0].apns.production.key_id",
        "apps[0].apns.production.key_file", "apps[0].apns.development.certificate_file",
        "apps[0].fcm.ca_file", "apps[0].jpush.master_secret_file",
      ], "\(check.errors)")
    let path = folder.file("pushpool.yaml")
    let password = Self.message(check, "redis.password_file")
    #expect(password.hasPrefix("\(path):1: redis.password_file: \(folder.path)/empty "))
    #expect(password.hasSuffix("is empty"))
    #expect(
      Self.message(check, "redis.ca_file").contains("give the certificates of the authorities"))
    #expect(Self.message(check, "apps[0].fcm.ca_file").contains("none.pem cannot be read"))
    for field in ["apns.production.key_file", "apns.development.certificate_file"] {
      #expect(Self.message(check, "apps[0].\(field)").hasPrefix("\(path):"))
    }
  }

  @Test("a check looks at the files of servers, too, and a check for a worker does not")
  func readers() throws {
    let folder = try TemporaryFolder()
    let yaml = "serve: {user_tokens: [{app: shop, algorithm: HS256, key_file: none.key}]}"
    let all = try Self.check(yaml, in: folder)
    #expect(all.errors.map(\.field) == ["serve.user_tokens[0].key_file"] && all.filesCount == 1)
    let file = folder.file("pushpool.yaml")
    let workers = ConfigurationCheck(file: file, environment: [:], for: .worker)
    #expect(workers.isRight && workers.filesCount == 0)
  }

  @Test("what follows from an error of an app is not told besides")
  func consequences() throws {
    let folder = try TemporaryFolder()
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    let authority = try CertificateAuthority(folder: folder.path)
    _ = try authority.issueClient(commonName: "shop", fileName: "push", p12Password: "right")
    let check = try Self.check(
      """
      apps:
        - id: a
          apns:
            production: {certificate_file: push.p12, pasword_file: p, topic: t}
            development: {certificate_file: push.p12, password_file: [p], topic: t}
          fcm: {service_account_file: \(account.file), messages_per_minute: 0}
        - id: b
          apns: {production: {keyfile: none, key_id: ABC123DEFG, team_id: DEF123GHIJ, topic: t}}
          fcm: {service_account_file: \(account.file), messages_per_minute: 20}
      """, in: folder)
    #expect(
      check.errors.map(\.field) == [
        "apps[0].apns.production.pasword_file", "apps[0].apns.development.password_file",
        "apps[0].fcm.messages_per_minute", "apps[1].apns.production.keyfile",
      ], "\(check.errors)")
    let apps = try Self.check("app: []", in: folder)
    #expect(apps.errors.map(\.field) == ["app"] && apps.warnings.isEmpty)
  }

  @Test("the content of each key for users' tokens is looked at, also behind an entry that is none")
  func userTokens() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write("short", to: folder.file("short"))
    try PrivateFile.write(String(repeating: "s", count: 32), to: folder.file("right"))
    let check = try Self.check(
      """
      serve:
        user_tokens:
          - {app: a, algorithm: RS256, key_file: right}
          - {app: b, algorithm: HS256, key_file: right}
          - {app: c, algorithm: HS256, key_file: short}
          - {app: d, algorithm: ES256, key_file: right}
          - {app: e, algorithm: HS256, key_file: short}
      """, in: folder)
    #expect(
      check.errors.map(\.field) == [
        "serve.user_tokens[0].algorithm", "serve.user_tokens[2].key_file",
        "serve.user_tokens[3].key_file", "serve.user_tokens[4].key_file",
      ])
    #expect(check.errors.map(\.line) == [3, 5, 6, 7])
    #expect(Self.message(check, "serve.user_tokens[2].key_file").contains("at least 32"))
    #expect(Self.message(check, "serve.user_tokens[3].key_file").contains("public half"))
  }

  @Test("what two apps say otherwise of one project is an error")
  func quota() throws {
    let folder = try TemporaryFolder()
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    let check = try Self.check(
      """
      apps:
        - id: a
          fcm: {service_account_file: \(account.file), messages_per_minute: 10}
        - id: b
          fcm: {service_account_file: \(account.file), messages_per_minute: 20}
      """, in: folder)
    #expect(check.errors.map(\.field) == ["apps[1].fcm.messages_per_minute"])
    #expect(Self.message(check, "apps[1].fcm.messages_per_minute").contains("give both the same"))
  }

  @Test("errors come in the order of the file, and those of variables behind them")
  func order() throws {
    let folder = try TemporaryFolder()
    let check = try Self.check(
      "log: {level: loud}\nworker: {lanes: x}\njobs: {retention_hours: 0}\nredis: {prefix: 'a b'}",
      in: folder, ["PUSHPOOL_WORKER_DRAIN_SECONDS": "x"])
    #expect(check.errors.map(\.line) == [1, 2, 3, 4, nil])
    #expect(!check.isRight)
    let errors = try #require(check.json.objectValue?["errors"]?.arrayValue)
    #expect(errors.count == 5 && errors[0].objectValue?["field"]?.stringValue == "log.level")
  }

  @Test("an open secret, a variable that is none, and no app are warnings")
  func warnings() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write("password", to: folder.file("pass"))
    #expect(chmod(folder.file("pass"), 0o644) == 0)
    let check = try Self.check(
      "redis: {password_file: pass}", in: folder, ["PUSHPOOL_REDIS_PORT": "tcp://1.2.3.4"])
    #expect(check.isRight && check.warnings.count == 3)
    #expect(check.warnings[0].contains("everybody on this machine may read the secret"))
    #expect(check.warnings[1].hasPrefix("there are no apps"))
    #expect(check.warnings[2] == "PUSHPOOL_REDIS_PORT is set but is no setting of pushpool")
    #expect(chmod(folder.file("pass"), 0o646) == 0)
    let open = try Self.check("redis: {password_file: pass}", in: folder)
    #expect(
      Self.message(open, "redis.password_file").contains("so that everybody may replace it"))
  }

  @Test("more than some hundred errors are counted, those of files too")
  func bounded() throws {
    let folder = try TemporaryFolder()
    let apps = (0..<130).map { "  - {id: a\($0), fcm: {service_account_file: none\($0)}}\n" }
    let check = try Self.check("apps:\n\(apps.joined())", in: folder)
    #expect(check.errors.count == ConfigurationLimits.errorsMax)
    #expect(check.omitted == 30)
    #expect(check.json.objectValue?["errors_omitted"]?.int64Value == 30)
  }
}
