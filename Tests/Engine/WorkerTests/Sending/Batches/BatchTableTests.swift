import Model
import Testing

@testable import Providers
@testable import Worker

@Suite struct BatchTableTests {
  private func batch(_ tags: UInt64...) throws -> Batch {
    let rendered = try TestBatchNetwork().render(JobContent(), createdAtMs: 0, nowMs: 0)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    return Batch(
      tags, tokens: tags.map { _ in none }, id: [],
      message: JobMessage(rendered, hasMarks: false))
  }

  @Test("a batch is found by its tag, once")
  func finds() throws {
    var table = BatchTable()
    let tag = table.add(try batch(1, 2))
    #expect(BatchTag.isOne(tag.raw) && BatchTag(tag.raw) == tag)
    #expect(table.count == 1 && table.pushes == 2)
    #expect(table.remove(tag)?.tags == [1, 2])
    #expect(table.remove(tag) == nil && table.count == 0 && table.pushes == 0)
  }

  @Test("a place is used again, and a late tag of what had it before finds nothing")
  func tellsGenerations() throws {
    var table = BatchTable()
    let old = table.add(try batch(1))
    _ = table.remove(old)
    let new = table.add(try batch(2))
    #expect(new.slot == old.slot && new != old)
    #expect(table.remove(old) == nil)
    #expect(table.remove(new)?.tags == [2])
  }

  @Test("a push's tag is no batch's")
  func tellsPushes() throws {
    let run = try Claims.run(["a"], slot: WorkerLimits.runsMax - 1)
    #expect(!BatchTag.isOne(PushTag(run, push: Int(Int32.max)).raw))
  }
}
