import PushpoolConfiguration
import Testing

@Suite struct AppsInRedisConfigurationTests {
  @Test("without the section there are no apps in Redis")
  func without() throws {
    let configuration = try ConfigurationTests.parse("")
    #expect(configuration.appsInRedis == nil && !configuration.hasApps)
  }

  @Test("the key files are a list, the newest first, that workers and servers use")
  func files() throws {
    let configuration = try ConfigurationTests.parse(
      "apps_in_redis:\n  key_files: [apps.key, /run/old.key]\n")
    #expect(configuration.appsInRedis?.keyFiles == ["etc/apps.key", "/run/old.key"])
    #expect(configuration.hasApps)
    for reader in Configuration.Reader.allCases {
      #expect(configuration.files(for: reader).map(\.path) == ["etc/apps.key", "/run/old.key"])
    }
    #expect(configuration.files.map(\.line) == [2, 2])
    #expect(configuration.files.allSatisfy { $0.field == "apps_in_redis.key_files" })
  }

  @Test("a variable has several files with commas between them")
  func variable() throws {
    let configuration = try ConfigurationTests.parse(
      "", ["PUSHPOOL_APPS_IN_REDIS_KEY_FILES": "new.key,/old.key"])
    #expect(configuration.appsInRedis?.keyFiles == ["etc/new.key", "/old.key"])
    #expect(configuration.unusedVariables.isEmpty)
  }

  @Test(
    "what breaks a rule is refused",
    arguments: [
      ("apps_in_redis: {}", "apps_in_redis.key_files: is missing: a list of files"),
      ("apps_in_redis: {key_files: []}", "apps_in_redis.key_files: is missing"),
      ("apps_in_redis: {key_file: a}", "did you mean \"key_files\"?"),
      ("apps_in_redis: {key_files: [{a: b}]}", "must be a list of single values"),
      (
        "apps_in_redis: {key_files: [a, b, c, d, e, f, g, h, i]}", "must be at most 8, are 9"
      ),
      ("apps_in_redis: {key_files: ['']}", "must be the path of a file"),
    ])
  func refusals(yaml: String, part: String) {
    let complaint = ConfigurationTests.complaint(yaml)
    #expect(complaint.contains(part), "\(complaint)")
  }

  @Test("a secret that everybody may read is told")
  func secrecy() throws {
    let configuration = try ConfigurationTests.parse("apps_in_redis: {key_files: [/etc/passwd]}")
    let told = configuration.secretsReadableByAll()
    #expect(told.count == 1 && told[0].hasPrefix("apps_in_redis.key_files: /etc/passwd has mode"))
  }
}
