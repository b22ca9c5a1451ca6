import Testing

@testable import Worker

@Suite struct RunTableTests {
  @Test("an answer that comes too late is not that of another run in the same place")
  func knowsGenerations() throws {
    let runs = RunTable()
    let first = try Claims.run(["a"])
    runs.add(first)
    let tag = PushTag(PushTag(first, push: 70_000).raw)
    #expect(tag.push == 70_000)
    #expect(runs[tag] === first)
    runs.remove(first)
    #expect(runs[tag] == nil)
    let second = try Claims.run(["b"])
    #expect(second.slot == first.slot)
    runs.add(second)
    #expect(runs[tag] == nil)
    #expect(runs[PushTag(second, push: 0)] === second)
  }

  @Test("places are free until a run has them, and its chunk is known by its entry")
  func keepsPlaces() throws {
    let runs = RunTable()
    #expect(runs.freeSlots == WorkerLimits.runsMax && runs.freeSlot == 0)
    let run = try Claims.run(["a"])
    runs.add(run)
    #expect(runs.freeSlots == WorkerLimits.runsMax - 1 && runs.freeSlot == 1 && runs.count == 1)
    #expect(runs.run(carrying: try Claims.claim(["a", "b"])) === run)
    runs.remove(run)
    #expect(!runs.isCarrying(run.claim) && runs.count == 0)
  }
}
