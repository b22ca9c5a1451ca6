import Model
import Testing

/// Which app lives in which shard.
@Suite struct PlacementTests {
  private static func shards(_ names: [String]) throws -> [ShardID] {
    try names.map { try ShardID($0) }
  }

  /// Some fleets with random tables, each with the seed that makes it again.
  private static let seeds: [UInt64] = Array(0..<200)

  @Test(
    "an app lives in one shard of the fleet, that of the table, and in the home without an entry")
  func single() throws {
    for seed in Self.seeds {
      var random = RepeatedRandom(seed)
      let names = (0..<Int.random(in: 1...8, using: &random)).map { "s\($0)" }
      let shards = try Self.shards(names)
      let home = try #require(shards.randomElement(using: &random))
      var table: [String: String] = [:]
      for app in 0..<Int.random(in: 0...40, using: &random) {
        table["app\(app)"] = names.randomElement(using: &random)
      }
      let placement = Placement(shards: shards, home: home, apps: table)
      for app in (0..<60).map({ "app\($0)" }) {
        let expected = table[app] ?? home.name
        #expect(placement[app].name == expected, "seed \(seed)")
        #expect(shards.filter { placement.has(app, in: $0) }.map(\.name) == [expected])
      }
    }
  }

  @Test("another shard moves no app")
  func addition() throws {
    for seed in Self.seeds {
      var random = RepeatedRandom(seed)
      let names = (0..<Int.random(in: 1...7, using: &random)).map { "s\($0)" }
      let table = Dictionary(
        uniqueKeysWithValues: (0..<20).map { ("app\($0)", names.randomElement(using: &random)!) })
      let before = try Self.shards(names)
      let after = try Self.shards(["new"] + names)
      let home = try ShardID(names[0])
      let one = Placement(shards: before, home: home, apps: table)
      let other = Placement(shards: after, home: home, apps: table)
      for app in (0..<40).map({ "app\($0)" }) { #expect(one[app] == other[app], "seed \(seed)") }
    }
  }

  @Test("a fleet of one shard has all apps there, and a name of no shard places nothing")
  func home() throws {
    #expect(Placement.single["shop"] == .only && Placement.single.shards == [.only])
    let placement = Placement(
      shards: try Self.shards(["main", "eu"]), home: try ShardID("main"), apps: ["shop": "us"])
    #expect(placement["shop"].name == "main")
  }
}

/// Random numbers that come again (SplitMix64).
private struct RepeatedRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
