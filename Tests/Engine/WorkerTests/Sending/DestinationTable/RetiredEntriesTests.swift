import Model
import Providers
import Testing

@testable import Worker

@Suite struct RetiredEntriesTests {
  @Test("an entry is kept while a run goes on that was there when it went, and not for later ones")
  func keeps() throws {
    var retired = RetiredEntries()
    let entries = try TestDirectory.of(.production, .development).entries
    var first: PushRun? = try Claims.run(["a"])
    retired.add([entries[0]], during: [first!])
    retired.add([entries[1]], during: [])
    #expect(retired[0]?.number == 0 && retired[7] == nil)
    #expect(retired.unused == [1])
    retired.remove(1)
    first = nil
    #expect(retired.unused == [0])
    retired.remove(0)
    #expect(retired.isEmpty)
  }
}
