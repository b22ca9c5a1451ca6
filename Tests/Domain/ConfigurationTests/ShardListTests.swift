import Foundation
import Model
import PushpoolConfiguration
import Testing

/// Several Redis in one configuration, and the apps that live in each.
@Suite struct ShardListTests {
  /// A fleet of three shards, two of which are in one cluster.
  private static let example = """
    redis:
      home: main
      shards:
        - {id: main, url: "redis+sentinel://s1,s2/pushpool", sentinel_user: asking}
        - {id: eu, url: "rediss://eu.example/3", prefix: push, accepted_risks: eviction}
        - {id: c0, url: "redis+cluster://n1,n2", prefix: "{pp:0}"}
        - {id: c-1, url: "redis+cluster://n1,n2", prefix: "{pp:1}"}
    apps:
      - {id: shop, shard: eu, fcm: {service_account_file: f}}
      - {id: blog, fcm: {service_account_file: f}}
      - {id: news, shard: main, fcm: {service_account_file: f}}
    """

  private static func list(_ elements: String..., home: String = "home: a") -> String {
    "redis:\n  \(home)\n  shards:\n"
      + elements.map { "    - {\($0)}\n" }.joined()
  }

  @Test(
    "shards are read, each with the fields of one Redis, and apps live where they say or at home")
  func several() throws {
    let configuration = try ConfigurationTests.parse(Self.example)
    let shards = configuration.shards
    #expect(shards.ids.map(\.name) == ["main", "eu", "c0", "c-1"])
    #expect(shards.ids.allSatisfy { !$0.isOnly })
    #expect(shards.home.name == "main" && configuration.redis == shards.all[0].redis)
    #expect(shards.all[0].redis.sentinel.user == "asking")
    #expect(shards.all[0].redis.prefix == RedisConfiguration.prefixDefault)
    #expect(shards.all[1].redis.prefix == "push")
    #expect(shards.all[1].redis.acceptedRisks == [.eviction])
    #expect(shards.all[1].place == "rediss://eu.example:6379/3 (shard eu)")
    let placement = configuration.placement
    #expect(placement.home == shards.home)
    #expect(
      ["shop", "blog", "news", "unknown"].map { placement[$0].name }
        == ["eu", "main", "main", "main"])
  }

  @Test("one Redis without a list is the shard main, with nothing in the configuration")
  func one() throws {
    for yaml in ["", "redis: {url: 'redis://h', prefix: pp}"] {
      let configuration = try ConfigurationTests.parse(yaml)
      #expect(configuration.shards.ids == [.only] && configuration.shards.home == .only)
      #expect(configuration.placement == .single)
      #expect(configuration.shards.all[0].place == "\(configuration.redis.url)")
    }
    let named = try ConfigurationTests.parse(
      "apps: [{id: shop, shard: main, fcm: {service_account_file: f}}]")
    #expect(named.placement["shop"] == .only)
    // A list of one needs no home, and its entries no name in front.
    let listed = try ConfigurationTests.parse(
      "redis: {shards: [{id: eu, url: 'redis://h'}]}\n"
        + "apps: [{id: shop, shard: eu, fcm: {service_account_file: f}}]")
    let shard = try #require(listed.shards.ids.first)
    #expect(shard.name == "eu" && shard.isOnly && listed.shards.home == shard)
    #expect(shard.text(of: "1-0") == "1-0")
  }

  @Test("variables set fields of a shard by its name, the home and an app's shard")
  func variables() throws {
    let configuration = try ConfigurationTests.parse(
      Self.example,
      [
        "PUSHPOOL_REDIS_SHARDS_EU_URL": "redis://other", "PUSHPOOL_REDIS_SHARDS_C_1_PREFIX": "{x}",
        "PUSHPOOL_REDIS_HOME": "eu", "PUSHPOOL_APPS_BLOG_SHARD": "c0",
      ])
    #expect("\(configuration.shards.all[1].redis.url)" == "redis://other:6379/0")
    #expect(configuration.shards.all[3].redis.prefix == "{x}")
    #expect(configuration.placement["blog"].name == "c0")
    #expect(configuration.placement["news"].name == "main")
    #expect(configuration.placement["unknown"].name == "eu")
    #expect(configuration.unusedVariables.isEmpty)
  }

  private static let refusals: [(yaml: String, complaint: String)] = [
    (
      Self.list("id: a, url: 'redis://h'", "id: b, url: 'redis://H:6379/0'"),
      "redis.shards[1].url: leads to the same keys as the shard \"a\": give it another Redis, "
        + "database or prefix"
    ),
    (
      Self.list(
        "id: a, url: 'redis+cluster://n1,n2', prefix: '{p}'",
        "id: b, url: 'redis+cluster://n2,n3', prefix: '{p}'"),
      "redis.shards[1].url: leads to the same keys as the shard \"a\""
    ),
    (
      Self.list("id: a, url: 'redis+sentinel://s1/m'", "id: b, url: 'redis+sentinel://s1,s2/m'"),
      "redis.shards[1].url: leads to the same keys"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: a, url: 'redis://i'"),
      "redis.shards[1].id: \"a\" occurs twice: a shard has one entry"
    ),
    (
      Self.list(
        "id: a, url: 'redis://h'", "id: b_c, url: 'redis://i'", "id: b-c, url: 'redis://j'"),
      "redis.shards[2].id: goes by the same variables as \"b_c\": rename one of them"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: a/b, url: 'redis://i'"),
      "redis.shards[1].id: must be 1 to 32 ASCII letters, digits or _ -"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "url: 'redis://i'"),
      "redis.shards[1].id: is missing: name the shard, as in apps[].shard"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: b, prefix: p"),
      "redis.shards[1].url: is missing: where the shard's Redis is; or set "
        + "PUSHPOOL_REDIS_SHARDS_B_URL"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: b, url: 'redis+cluster://n1'"),
      "redis.shards[1].prefix: must be a hash tag, such as {pushpool}, beside redis+cluster:// in "
        + "redis.shards[1].url"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: b, url: 'redis://i', sentinel_user: u"),
      "redis.shards[1].sentinel_user: must stand beside sentinels in redis.shards[1].url"
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: b, url: 'redis://i'", home: "prefix: p"),
      "redis.prefix: is for a fleet with one Redis, and redis.shards lists several: give each "
        + "shard its own"
    ),
    (
      "redis: {shards: [{id: a, url: 'redis://h'}, {id: b, url: 'redis://i'}]}",
      "redis.home: is missing: name the shard with what the fleet has once, one of a, b"
    ),
    (
      Self.list("id: main, url: 'redis://h'", "id: eu, url: 'redis://i'", home: "home: mian"),
      "redis.home: must name a shard of redis.shards, one of main, eu, is \"mian\"; did you mean "
        + "\"main\"?"
    ),
    ("redis: {home: main}", "redis.home: must stand beside redis.shards, of which it names one"),
    ("redis: {shards: []}", "redis.shards: must be 1 to 64 shards, are 0"),
    ("redis: {shards: {a: b}}", "redis.shards: must be a list of shards"),
    ("redis: {shards: [3]}", "redis.shards[0]: must be a mapping of names to values"),
    (
      "redis: {shards: [{id: a, url: 'redis://h', urll: x}]}",
      "redis.shards[0].urll: is not a known field"
    ),
    (
      "apps: [{id: shop, shard: eu, fcm: {service_account_file: f}}]",
      "apps[0].shard: must name a shard of redis.shards, one of main, is \"eu\""
    ),
    (
      Self.list("id: a, url: 'redis://h'", "id: eu, url: 'redis://i'")
        + "apps: [{id: shop, shard: ue, fcm: {service_account_file: f}}]",
      "apps[0].shard: must name a shard of redis.shards, one of a, eu, is \"ue\""
    ),
  ]

  @Test(
    "a list of shards that cannot be meant is refused, with the field and what to do",
    arguments: refusals)
  func refused(yaml: String, complaint: String) {
    let told = ConfigurationTests.complaint(yaml)
    #expect(told.contains(complaint), "\(told)")
  }

  @Test("shards in one Redis differ by the database or by the prefix")
  func neighbours() throws {
    for other in [
      "id: b, url: 'redis://h/1'", "id: b, url: 'redis://h', prefix: b",
      "id: b, url: 'redis://h:6380'",
    ] {
      let configuration = try ConfigurationTests.parse(Self.list("id: a, url: 'redis://h'", other))
      #expect(configuration.shards.all.count == 2)
    }
  }

  @Test("a variable that names one Redis does not lead away from several")
  func displaced() {
    let complaint = ConfigurationTests.complaint(
      Self.example, ["PUSHPOOL_REDIS_URL": "redis://elsewhere"])
    #expect(
      complaint.contains(
        "PUSHPOOL_REDIS_URL: redis.url: is for a fleet with one Redis, and redis.shards lists "
          + "several: unset it, or set PUSHPOOL_REDIS_SHARDS_ID_…"), "\(complaint)")
  }

  @Test("all errors of a list are told, and none that follows from another")
  func reading() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-shards-\(UUID().uuidString).yaml")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(
      """
      redis:
        home: us
        url: redis://h
        shards:
          - {id: main, url: "redis://h"}
          - {id: "u s", url: "redis://i"}
          - {id: eu, url: "http://j", prefix: "a b"}
      apps:
        - {id: shop, shard: us, fcm: {service_account_file: f}}
      """.utf8
    ).write(to: file)
    let reading = Configuration.examine(file: file.path, environment: [:])
    #expect(
      reading.errors.map(\.field) == [
        "redis.shards[1].id", "redis.shards[2].url", "redis.shards[2].prefix", "redis.url",
      ])
    #expect(reading.configuration?.shards.ids.map(\.name) == ["main", "eu"])
  }

  @Test("an error about a file of a shard names the shard's field")
  func files() throws {
    let configuration = try ConfigurationTests.parse(
      Self.list("id: a, url: 'redis://h'", "id: b, url: 'redis://i', password_file: /none/pw"))
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.shards.all[1].redis.password()
    }
    #expect(error?.field == "redis.shards[1].password_file")
    #expect(
      configuration.validateFilesExist().map(\.field) == ["redis.shards[1].password_file"])
  }
}
