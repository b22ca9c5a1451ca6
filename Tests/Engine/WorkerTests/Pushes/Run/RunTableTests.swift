import Model
import Reactor
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
    #expect(runs.chunk(carrying: try Claims.claim(["a", "b"]))?.run === run)
    runs.remove(run)
    #expect(!runs.isCarrying(run.claim) && runs.count == 0)
  }

  @Test("a chunk that went since Redis was asked for chunks is known until those are begun")
  func knowsWhatWent() throws {
    let runs = RunTable()
    let first = try Claims.run(["a"])
    runs.add(first)
    #expect(runs.knows(first.claim))
    runs.remove(first)
    #expect(!runs.knows(first.claim))
    runs.beginAsking()
    #expect(!runs.knows(first.claim), "it went before")
    let second = try Claims.run(["a"])
    runs.add(second)
    runs.remove(second)
    #expect(runs.knows(second.claim))
    #expect(!runs.knows(try Claims.claim(["a"], priority: .high)))
    runs.endAsking()
    #expect(!runs.knows(second.claim))
  }

  /// A run whose only push is under way.
  private static func waitingRun(_ runs: RunTable, _ loop: EventLoop) throws -> ChunkRun {
    let run = PushRun(
      try Claims.claim(["a"]), JobMaterial(content: JobContent(), createdAtMs: 0, trace: nil),
      slot: try #require(runs.freeSlot), loop: loop)
    let chunk = ChunkRun(run)
    runs.add(chunk)
    _ = run.takeBatch(max: 1)
    run.noteSubmitted(run.resolve(0, devices: 1)[0])
    return chunk
  }

  @Test(
    "a chunk that only waits for answers leaves its room to another, and takes it along to its end")
  func leavesRoom() throws {
    let runs = RunTable()
    let busy = ChunkRun(try Claims.run(["a"]))
    runs.add(busy)
    #expect(!runs.letLinger(busy), "nothing of it was sent yet")
    let waiting = try Self.waitingRun(runs, try EventLoop(name: "test"))
    #expect(runs.freeSlots == WorkerLimits.runsMax - 2)
    runs.chunksMax = 2
    #expect(runs.freeSlots == 0)
    #expect(runs.letLinger(waiting), "there is room where there was none")
    #expect(runs.freeSlots == 1 && runs.lingering == 1 && runs.chunks == 2)
    #expect(!runs.letLinger(waiting) && runs.lingering == 1)
    runs.remove(waiting.run)
    #expect(runs.freeSlots == 1 && runs.lingering == 0 && runs.chunks == 1)
  }

  @Test("a chunk whose pushes wait for a connection leaves its room, too")
  func leavesRoomOutOfTouch() throws {
    let runs = RunTable()
    let chunk = ChunkRun(try Claims.run(["a"]))
    runs.add(chunk)
    #expect(!runs.letLinger(chunk, orIf: false) && runs.lingering == 0)
    _ = runs.letLinger(chunk, orIf: true)
    #expect(runs.lingering == 1 && runs.freeSlots == WorkerLimits.runsMax)
    runs.remove(chunk.run)
    #expect(runs.lingering == 0 && runs.freeSlots == WorkerLimits.runsMax)
  }

  @Test("no more than a bounded number of chunks waits beside those that are in hand")
  func boundsLingering() throws {
    let runs = RunTable()
    let loop = try EventLoop(name: "test")
    let waiting = try (0...WorkerLimits.lingeringRunsMax).map { _ in
      try Self.waitingRun(runs, loop)
    }
    for chunk in waiting { _ = runs.letLinger(chunk) }
    #expect(runs.lingering == WorkerLimits.lingeringRunsMax)
    #expect(runs.freeSlots == WorkerLimits.runsMax - 1)
    #expect(runs.freeDirect(of: 100) == 100)
  }
}
