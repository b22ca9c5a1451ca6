import Model
import Testing

@testable import Worker

/// What a process knows of the name of a shard.
@Suite struct ShardNameTests {
  @Test("a place without a name is to get it at first, and is another one when the name was there")
  func missing() throws {
    let name = ShardName(of: try ShardID("eu"))
    #expect(name.noteMissing() == nil && !name.isMissing)
    name.noteThere()
    #expect(!name.isMissing)
    for _ in 0..<2 {
      #expect(name.noteMissing()?.contains("the shard eu") == true)
      #expect(name.isMissing)
    }
    // It was claimed anew.
    name.noteThere()
    #expect(!name.isMissing)
    #expect(name.noteMissing() != nil)
  }
}
