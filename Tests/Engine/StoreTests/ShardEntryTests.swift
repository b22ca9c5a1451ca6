import Model
import Testing

@testable import Store

/// Entries as people and programs name them.
@Suite struct ShardEntryTests {
  private static let several = ["main", "eu", "c0"].compactMap { try? ShardID($0) }

  @Test("in a fleet of one shard an entry is read with and without its name, and written without")
  func one() throws {
    for text in ["1790000000000-0", "main/1790000000000-0"] {
      let entry = try ShardEntry(text, of: [.only])
      #expect(entry.text == "1790000000000-0" && entry.shard == .only)
    }
    let error = try #require(throws: InvalidField.self) {
      try ShardEntry("eu/1790000000000-0", of: [.only])
    }
    #expect(
      error.message
        == "must name a shard that there is, and eu is none: the fleet has main")
  }

  @Test("where there are several an entry names its shard, and is read as it was written")
  func several() throws {
    for shard in Self.several {
      let entry = ShardEntry(shard: shard, id: try #require(EntryID("7-3")))
      #expect(entry.text == "\(shard.name)/7-3")
      #expect(try ShardEntry(entry.text, of: Self.several) == entry)
    }
    let error = try #require(throws: InvalidField.self) {
      try ShardEntry("7-3", of: Self.several)
    }
    #expect(
      error.message
        == "must name its shard, such as main/7-3, since several can have such an entry: the fleet has "
        + "main, eu, c0")
    #expect(throws: InvalidField.self) { try ShardEntry("us/7-3", of: Self.several) }
  }

  @Test(arguments: [
    "", "7", "-", "7-", "-3", "07-3", "7-03", "7-3-1", "+7-3", "7-3 ", "/7-3", "eu/", "eu//7-3",
    "eu/eu/7-3", "e u/7-3", "18446744073709551616-0",
  ])
  func `what is no entry is refused, also before the shards are known`(text: String) {
    #expect(!ShardEntry.isOne(text))
    #expect(throws: InvalidField.self) { try ShardEntry(text, of: [.only]) }
    #expect(throws: InvalidField.self) { try ShardEntry(text, of: Self.several) }
  }

  @Test("equal entries of two shards are two, in the order of the shards' names")
  func order() throws {
    let names = ["main/7-3", "eu/8-0", "eu/7-3", "c0/7-10", "c0/6-99"]
    let sorted = try names.map { try ShardEntry($0, of: Self.several) }.sorted()
    #expect(sorted.map(\.text) == ["c0/6-99", "eu/7-3", "main/7-3", "c0/7-10", "eu/8-0"])
    #expect(Set(sorted).count == 5)
  }

  @Test("a list of another shard goes on with what comes behind an entry of this one")
  func places() throws {
    let entry = try ShardEntry("eu/7-0", of: Self.several)
    let last = try ["main", "eu", "c0"].map { entry.last(in: try ShardID($0))?.text }
    #expect(last == ["6-18446744073709551615", "7-0", "7-0"])
    let first = try ShardEntry("eu/0-0", of: Self.several)
    #expect(first.last(in: try ShardID("main")) == nil)
    #expect(EntryID("7-3")?.previous?.text == "7-2")
  }
}
