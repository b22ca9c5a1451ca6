import HTTPClient
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
      WorkerSnapshot.sharedRates(of: directory, by: ["shop": eu, "news": main, "blog": main])
        == ["project"])
    #expect(
      WorkerSnapshot.sharedRates(of: directory, by: ["shop": eu, "news": eu, "blog": eu]).isEmpty)
  }
}
