import HTTPClient
import LocalServices
import Model
import Providers
import PushpoolConfiguration
import Store
import Testing

@testable import Worker

/// The part of a configuration that the lanes of each shard go by.
@Suite struct HeldPlacementTests {
  private static let shards = """
    redis:
      home: main
      shards: [{id: main, url: "redis://h"}, {id: eu, url: "redis://i"}]
    """

  private static func names(_ homes: [String: ShardID]) -> [String: String] {
    homes.mapValues(\.name)
  }

  /// A configuration with these apps, each in its shard.
  private static func load(
    _ folder: ReloadFolder, _ apps: [String: String], _ more: String = Self.shards
  ) throws -> Configuration {
    try folder.write(apps.keys.sorted(), more, fields: apps.mapValues { "shard: \($0)" })
    return try folder.load()
  }

  @Test("lanes go by the apps of their shard alone: they announce and know no others")
  func snapshots() throws {
    let folder = try ReloadFolder()
    let configuration = try Self.load(folder, ["shop": "eu", "news": "main", "blog": "eu"])
    let client = HTTPClient()
    defer { client.shutdown() }
    let apps = try ConfiguredApps(configuration, client: client, clock: .system)
    let snapshots = HeldPlacement(configuration.shards).snapshots(
      of: configuration, apps, for: configuration.shards.ids)
    #expect(
      snapshots.map { Set($0.directory.entries.map(\.app)) } == [["news"], ["blog", "shop"]])
    #expect(snapshots.map { $0.routes.apps.sorted() } == [["news"], ["blog", "shop"]])
    // Numbers are those of the process, so that none stands for two entries.
    let numbers = snapshots.flatMap { $0.directory.entries.map(\.number) }
    #expect(numbers.sorted() == apps.directory.entries.map(\.number))
    #expect(Set(snapshots.map(\.directory.numbersEnd)) == [apps.directory.numbersEnd])
  }

  @Test("apps of Redis live at home, and lanes of other shards know where to pass their jobs on")
  func redisApps() throws {
    let folder = try ReloadFolder()
    let configuration = try Self.load(folder, ["shop": "eu", "mail": "main"])
    let client = HTTPClient()
    defer { client.shutdown() }
    var change = RedisAppsChange(
      of: try ConfiguredApps(configuration, client: client), configuration, ids: nil,
      client: client)
    var form = AppForm()
    form.apns[.production] = AppForm.APNs(
      credential: .token(keyID: folder.key.keyID, teamID: folder.key.teamID),
      topic: "com.example.news", access: AppForm.Access())
    form.rules.eventsPerMinute = 7
    let text = try #require(TextFile.read(folder.key.file, bytesMax: 4_096))
    change.take(
      "news",
      .material(
        AppMaterial(
          id: "news", form,
          secrets: [.apns(.production, .key): AppSecret(Array(text.utf8))]),
        form.rules, sealedBy: []))
    change.take("junk", .fault(part: "", message: "is no record"))
    // The file's counts, in its shard.
    change.take("shop", .fault(part: "", message: "is no record"))
    let placement = HeldPlacement(configuration.shards)
    let snapshots = placement.snapshots(
      of: configuration, try change.apps(), for: configuration.shards.ids)
    let (home, eu) = (snapshots[0], snapshots[1])
    #expect(Set(home.directory.entries.map(\.app)) == ["mail", "news"])
    #expect(Set(home.routes.redisApps.keys) == ["news"])
    #expect(home.routes.leavesOut("junk") && home.leftOut.map(\.id) == ["junk"])
    #expect(home.displaced == ["shop"])
    #expect(home.rules.eventsPerMinute["news"] == 7)
    #expect(Set(eu.directory.entries.map(\.app)) == ["shop"])
    #expect(eu.routes.redisApps.isEmpty && eu.leftOut.isEmpty && eu.displaced.isEmpty)
    #expect(eu.rules.eventsPerMinute["news"] == nil)
    let main = try ShardID("main")
    for app in ["news", "junk", "mail"] {
      #expect(eu.elsewhere[app] == main && home.elsewhere[app] == nil)
    }
    #expect(home.elsewhere["shop"]?.name == "eu" && eu.elsewhere["shop"] == nil)
    #expect(eu.elsewhere["unknown"] == nil)
    // A shard is told of the file's apps alone.
    #expect(Set(eu.elsewhere.named.keys) == ["mail"])
  }

  @Test("with one shard the directory is the configuration's")
  func single() throws {
    let folder = try ReloadFolder()
    try folder.write(["shop", "news"])
    let configuration = try folder.load()
    let client = HTTPClient()
    defer { client.shutdown() }
    let apps = try ConfiguredApps(configuration, client: client, clock: .system)
    let snapshots = HeldPlacement(configuration.shards).snapshots(
      of: configuration, apps, for: [.only])
    #expect(snapshots.map { $0.routes.apps.sorted() } == [["news", "shop"]])
  }

  @Test("an app stays in its shard until a restart, and a new one goes where it is placed")
  func held() throws {
    let folder = try ReloadFolder()
    let first = try Self.load(folder, ["shop": "eu", "news": "main"])
    let placement = HeldPlacement(first.shards)
    #expect(Self.names(placement.homes(of: first)) == ["shop": "eu", "news": "main"])
    let second = try Self.load(folder, ["shop": "main", "news": "main", "blog": "eu"])
    #expect(
      Self.names(placement.homes(of: second)) == ["shop": "eu", "news": "main", "blog": "eu"])
    #expect(FixedSettings(first).names(differingIn: FixedSettings(second)) == ["apps[].shard"])
    // One that has come since is held, too.
    var fixed = FixedSettings(first)
    fixed.holdNewApps(of: FixedSettings(second))
    let moved = try Self.load(folder, ["shop": "eu", "news": "main", "blog": "main"])
    #expect(fixed.names(differingIn: FixedSettings(moved)) == ["apps[].shard"])
    #expect(FixedSettings(first).names(differingIn: FixedSettings(moved)).isEmpty)
    // A shard that is new waits for a restart, and so does what lives there.
    let third = try Self.load(
      folder, ["shop": "eu", "news": "us"],
      """
      redis:
        home: main
        shards:
          - {id: main, url: "redis://h"}
          - {id: eu, url: "redis://j"}
          - {id: us, url: "redis://k"}
      """)
    #expect(
      FixedSettings(first).names(differingIn: FixedSettings(third))
        == ["redis.shards[1].url", "redis.shards", "apps[].shard"])
    #expect(Self.names(placement.homes(of: third)) == ["shop": "eu", "news": "main"])
    // One that was gone is where it was.
    _ = placement.homes(of: try Self.load(folder, ["news": "main"]))
    let again = try Self.load(folder, ["shop": "main", "news": "main"])
    #expect(Self.names(placement.homes(of: again)) == ["shop": "eu", "news": "main"])
  }

  @Test(
    "a worker with one Redis is told of several, serves from it what it did, and nothing that is placed elsewhere"
  )
  func becomesSeveral() throws {
    let folder = try ReloadFolder()
    try folder.write(["shop", "news"], "redis: {url: \"redis://h\"}")
    let one = try folder.load()
    let client = HTTPClient()
    defer { client.shutdown() }
    let placement = HeldPlacement(one.shards)
    func snapshot(_ configuration: Configuration) throws -> WorkerSnapshot {
      let apps = try ConfiguredApps(configuration, client: client, clock: .system)
      return try #require(placement.snapshots(of: configuration, apps, for: [.only]).first)
    }
    #expect(try snapshot(one).routes.apps.sorted() == ["news", "shop"])
    // What is new is placed elsewhere; what is known stays.
    let several = try Self.load(
      folder, ["shop": "eu", "news": "main", "blog": "eu", "mail": "main"])
    let next = try snapshot(several)
    #expect(next.routes.apps.sorted() == ["mail", "news", "shop"])
    #expect(Set(next.directory.entries.map(\.app)) == ["mail", "news", "shop"])
    #expect(next.elsewhere["blog"]?.name == "eu")
    let (before, after) = (FixedSettings(one), FixedSettings(several))
    #expect(before.names(differingIn: after) == ["redis.shards", "apps[].shard"])
  }

  @Test(
    "a worker with several Redis is told of one, and serves nothing new from another shard than home"
  )
  func becomesOne() throws {
    let folder = try ReloadFolder()
    let several = try Self.load(folder, ["shop": "eu", "news": "main"])
    let client = HTTPClient()
    defer { client.shutdown() }
    let placement = HeldPlacement(several.shards)
    func apps(_ configuration: Configuration) throws -> [[String]] {
      let apps = try ConfiguredApps(configuration, client: client, clock: .system)
      return placement.snapshots(of: configuration, apps, for: several.shards.ids)
        .map { $0.routes.apps.sorted() }
    }
    #expect(try apps(several) == [["news"], ["shop"]])
    try folder.write(["shop", "news", "blog"], "redis: {url: \"redis://other\"}")
    let one = try folder.load()
    #expect(try apps(one) == [["blog", "news"], ["shop"]])
    #expect(
      FixedSettings(several).names(differingIn: FixedSettings(one))
        == ["redis.url", "redis.shards", "apps[].shard"])
    #expect(
      FixedSettings(one).names(differingIn: FixedSettings(several))
        == ["redis.shards[0].url", "redis.shards", "apps[].shard"])
  }

  @Test("a rate to which apps of two shards keep is shared, and any other is not")
  func sharedRates() throws {
    func entry(_ number: Int, _ app: String, _ limits: String...) throws -> ProviderDirectory.Entry
    {
      try #require(
        try TestDirectory.of(
          .production, app: app, from: number,
          limits: limits.map { RateLimit(name: $0, perSecond: 1) }
        ).entries.first)
    }
    let directory = ProviderDirectory(entries: [
      try entry(0, "shop", "project", "app:shop"), try entry(1, "news", "project", "own"),
      try entry(2, "blog", "own"),
    ])
    let (main, eu) = (try ShardID("main"), try ShardID("eu"))
    #expect(
      WorkerSnapshot.sharedRates(
        of: directory, by: ["shop": eu, "news": main, "blog": main], home: main) == ["project"])
    #expect(
      WorkerSnapshot.sharedRates(
        of: directory, by: ["shop": eu, "news": eu, "blog": eu], home: main
      ).isEmpty)
    // An app that the configuration does not place lives at home, as those of Redis do.
    #expect(
      WorkerSnapshot.sharedRates(of: directory, by: ["shop": eu, "blog": main], home: main)
        == ["project"])
  }
}
