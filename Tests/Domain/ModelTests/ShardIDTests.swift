import Model
import Testing

/// Names of shards, and how they stand in front of entries.
@Suite struct ShardIDTests {
  @Test(
    "an entry stands alone in a fleet of one shard, and behind its shard where there are others")
  func entries() throws {
    #expect(ShardID.only.name == "main" && ShardID.only.text(of: "1-0") == "1-0")
    let shard = try ShardID("eu_1-b")
    #expect(shard.text(of: "1-0") == "eu_1-b/1-0" && shard.text(of: "") == "")
  }

  @Test(arguments: ["", "a/b", "a b", "ü", "a.b", String(repeating: "x", count: 33)])
  func `a name that could not stand there is refused`(name: String) {
    #expect(throws: InvalidField.self) { try ShardID(name) }
  }

  @Test("a record says by which name its letter is asked for")
  func letters() throws {
    let fields = [("state", "refused"), ("reason", "invalid_job"), ("letter", "5-1")]
    var record = try JobRecord(app: "shop", id: "j", fields: fields)
    #expect(record.letterText == "5-1")
    record.shard = .only
    #expect(record.letterText == "5-1")
    record.shard = try ShardID("eu")
    #expect(record.letterText == "eu/5-1" && record.refusal?.letter == "5-1")
    #expect(JobRecord(app: "shop", id: "j", state: .done).letterText.isEmpty)
  }
}
