import Foundation
import PushpoolConfiguration
import Testing

@Suite struct ServeConfigurationTests {
  @Test("without a section a server listens on this machine alone, and tells no metrics")
  func usual() throws {
    let serve = try ConfigurationTests.parse("").serve
    #expect(serve == ServeConfiguration())
    #expect(serve.listen == HostAndPort(host: "127.0.0.1", port: 8080))
    #expect(serve.metricsListen == nil && serve.userTokens.isEmpty && serve.trustedProxies.isEmpty)
  }

  @Test("every field of the section is read")
  func everything() throws {
    let configuration = try ConfigurationTests.parse(
      """
      serve:
        listen: "[::]:80"
        metrics_listen: 0.0.0.0:0
        trusted_proxies: [127.0.0.1, "::1", 10.0.0.0/8]
        user_tokens:
          - {app: shop, algorithm: ES256, key_file: shop.pem, key_id: 2026}
          - {app: shop, algorithm: HS256, key_file: /run/old, key_id: "2025"}
          - {app: news, algorithm: HS256, key_file: news.secret}
      """)
    #expect(
      configuration.serve
        == ServeConfiguration(
          listen: HostAndPort(host: "::", port: 80),
          metricsListen: HostAndPort(host: "0.0.0.0", port: 0),
          userTokens: [
            UserTokenConfiguration(
              app: "shop", algorithm: .es256, keyFile: "etc/shop.pem", keyID: "2026"),
            UserTokenConfiguration(
              app: "shop", algorithm: .hs256, keyFile: "/run/old", keyID: "2025"),
            UserTokenConfiguration(app: "news", algorithm: .hs256, keyFile: "etc/news.secret"),
          ], trustedProxies: ["127.0.0.1", "::1", "10.0.0.0/8"]))
    #expect(configuration.files.count == 3)
  }

  @Test("variables go before the file, and an entry's go by its app and key_id")
  func variables() throws {
    let configuration = try ConfigurationTests.parse(
      """
      serve:
        listen: 127.0.0.1:1
        trusted_proxies: [127.0.0.1]
        user_tokens: [{app: shop-eu, key_id: k.1}, {app: news, algorithm: HS256, key_file: a}]
      """,
      [
        "PUSHPOOL_SERVE_LISTEN": "localhost:0", "PUSHPOOL_SERVE_METRICS_LISTEN": "127.0.0.1:9464",
        "PUSHPOOL_SERVE_TRUSTED_PROXIES": "10.1.2.3, fd00::/8",
        "PUSHPOOL_SERVE_USER_TOKENS_SHOP_EU_K_1_ALGORITHM": "ES256",
        "PUSHPOOL_SERVE_USER_TOKENS_SHOP_EU_K_1_KEY_FILE": "/key.pem",
        "PUSHPOOL_SERVE_USER_TOKENS_NEWS_KEY_FILE": "/news",
      ])
    let serve = configuration.serve
    #expect(serve.listen == HostAndPort(host: "localhost", port: 0))
    #expect(serve.metricsListen == HostAndPort(host: "127.0.0.1", port: 9464))
    #expect(serve.trustedProxies == ["10.1.2.3", "fd00::/8"])
    #expect(
      serve.userTokens == [
        UserTokenConfiguration(
          app: "shop-eu", algorithm: .es256, keyFile: "/key.pem", keyID: "k.1"),
        UserTokenConfiguration(app: "news", algorithm: .hs256, keyFile: "/news"),
      ])
    #expect(configuration.unusedVariables.isEmpty)
    let off = try ConfigurationTests.parse(
      "serve: {metrics_listen: 127.0.0.1:9464}", ["PUSHPOOL_SERVE_METRICS_LISTEN": "off"])
    #expect(off.serve.metricsListen == nil)
  }

  @Test(
    "what breaks a rule is named with its line and the rule",
    arguments: [
      ("serve: {listen: 8080}", "serve.listen: must be HOST:PORT, such as 127.0.0.1:8080"),
      ("serve: {listen: localhost}", "serve.listen: must be HOST:PORT"),
      ("serve: {listen: 'a:80:0'}", "serve.listen: must be HOST:PORT"),
      ("serve: {listen: 'a:65536'}", "serve.listen: must be HOST:PORT"),
      ("serve: {listen: off}", "serve.listen: must be HOST:PORT"),
      ("serve: {metrics_listen: on}", "serve.metrics_listen: must be HOST:PORT"),
      (
        "serve: {listen: 'a:1', metrics_listen: 'a:1'}",
        "serve.metrics_listen: must differ from serve.listen"
      ),
      ("serve: {listens: x}", "serve.listens: is not a known field"),
      ("serve: {trusted_proxies: [10.0.0.1, proxy]}", "\"proxy\" is none"),
      (
        "serve: {trusted_proxies: [10.0.0.0/33]}",
        "must be addresses or networks, such as 127.0.0.1, ::1 or 10.0.0.0/8; \"10.0.0.0/33\" is none"
      ),
      ("serve: {trusted_proxies: [[a]]}", "must be a list of single values"),
      ("serve: {user_tokens: {app: shop}}", "serve.user_tokens: must be a list of keys"),
      ("serve: {user_tokens: [{algorithm: HS256}]}", "serve.user_tokens[0].app: is missing"),
      (
        "serve: {user_tokens: [{app: 'a b', algorithm: HS256, key_file: k}]}",
        "serve.user_tokens[0].app: "
      ),
      (
        "serve: {user_tokens: [{app: shop, key_file: k}]}",
        "serve.user_tokens[0].algorithm: is missing: HS256 or ES256; or set PUSHPOOL_SERVE_USER_TOKENS_SHOP_ALGORITHM"
      ),
      (
        "serve: {user_tokens: [{app: shop, algorithm: none, key_file: k}]}",
        "serve.user_tokens[0].algorithm: must be HS256 or ES256, is \"none\""
      ),
      (
        "serve: {user_tokens: [{app: shop, algorithm: HS256}]}",
        "serve.user_tokens[0].key_file: is missing"
      ),
      (
        "serve: {user_tokens: [{app: shop, algorithm: ES256, key_file: '-----BEGIN PUBLIC KEY'}]}",
        "must be the path of a file"
      ),
      (
        "serve: {user_tokens: [{app: shop, key_id: 'a b', algorithm: HS256, key_file: k}]}",
        "serve.user_tokens[0].key_id: must be 1 to 64"
      ),
      (
        "serve: {user_tokens: [{app: a, algorithm: HS256, key_file: k}, {app: a, algorithm: ES256, key_file: k}]}",
        "serve.user_tokens[1].app: the same app and key_id occur twice"
      ),
      (
        "serve: {user_tokens: [{app: shop, algorithm: HS256, key: k}]}",
        "secrets are files, write its path as key_file"
      ),
    ])
  func refused(yaml: String, part: String) {
    let complaint = ConfigurationTests.complaint(yaml)
    #expect(complaint.contains(part), "\(complaint)")
    #expect(complaint.contains(":1: "), "\(complaint)")
  }

  @Test("two keys that would go by the same variables are refused once one is set")
  func sameVariables() throws {
    let yaml = """
      serve:
        user_tokens:
          - {app: a-b, algorithm: HS256, key_file: k}
          - {app: a, key_id: b, algorithm: HS256, key_file: l}
      """
    #expect(try ConfigurationTests.parse(yaml).serve.userTokens.count == 2)
    let complaint = ConfigurationTests.complaint(
      yaml, ["PUSHPOOL_SERVE_USER_TOKENS_A_B_KEY_FILE": "/m"])
    #expect(complaint.contains("goes by the same variables PUSHPOOL_SERVE_USER_TOKENS_A_B_…"))
  }

  @Test("a secret that others may read is told, a public key is not, and neither may be replaced")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-serve-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let yaml = """
      serve:
        user_tokens:
          - {app: a, algorithm: HS256, key_file: secret}
          - {app: b, algorithm: ES256, key_file: public}
          - {app: c, algorithm: ES256, key_file: gone}
      """
    for (name, text) in [("secret", "s"), ("public", "p"), ("pushpool.yaml", yaml)] {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    let configuration = try Configuration.load(
      file: folder.appendingPathComponent("pushpool.yaml").path, environment: [:])
    func setMode(_ mode: mode_t) {
      for name in ["secret", "public"] { chmod(folder.appendingPathComponent(name).path, mode) }
    }
    setMode(0o644)
    #expect(configuration.secretsReadableByAll().count == 1)
    #expect(configuration.secretsReadableByAll()[0].hasPrefix("serve.user_tokens[0].key_file: "))
    let gone = configuration.validateFilesExist()
    #expect(gone.count == 1 && gone[0].field == "serve.user_tokens[2].key_file")
    // A server uses them, and a worker does not look at them.
    #expect(configuration.validateFilesExist(for: .server) == gone)
    #expect(configuration.validateFilesExist(for: .worker).isEmpty)
    #expect(configuration.secretsReadableByAll(for: .server).count == 1)
    #expect(configuration.secretsReadableByAll(for: .worker).isEmpty)
    setMode(0o602)
    #expect(configuration.validateFilesExist().count == 3)
  }

  @Test("the files that a worker uses are not a server's, nor the other way round, but for Redis's")
  func readers() throws {
    let configuration = try ConfigurationTests.parse(
      """
      redis: {password_file: redis}
      serve: {user_tokens: [{app: shop, algorithm: HS256, key_file: users}]}
      apps: [{id: shop, jpush: {app_key: a, master_secret_file: jpush}}]
      """)
    func paths(_ reader: Configuration.Reader) -> Set<String> {
      Set(configuration.files(for: reader).map(\.path))
    }
    #expect(paths(.worker) == ["etc/redis", "etc/jpush"])
    #expect(paths(.server) == ["etc/redis", "etc/users"])
    #expect(paths(.checker) == ["etc/redis", "etc/jpush", "etc/users"])
  }

  @Test(
    "an address is in a network or is not",
    arguments: [
      ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("10.1.2.128/25", "10.1.2.200", true), ("10.1.2.128/25", "10.1.2.100", false),
      ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
      ("::1", "::1", true), ("::1", "0:0:0:0:0:0:0:1", true), ("fd00::/8", "fdab::1", true),
      ("fd00::/8", "fe80::1", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
      ("10.0.0.0/8", "10.0.0.1\u{0}", false), ("10.0.0.0/8", "", false),
    ])
  func ranges(range: String, address: String, isIn: Bool) throws {
    #expect(try #require(AddressRange(range)).contains(address) == isIn)
  }

  @Test(
    "what is no address is none",
    arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0", "a", "::1/129"])
  func noRange(text: String) { #expect(AddressRange(text) == nil) }
}
