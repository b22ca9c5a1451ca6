import Model
import Testing

@testable import Worker

@Suite struct BatchQueueTests {
  private let queue = BatchQueue(pushesMax: 10)
  private let job = BatchStage.material()
  private static let waitNs = WorkerLimits.batchWaitMs * 1_000_000

  /// A chunk of a job in this place, with so many recipients of which so many were resolved.
  private func run(
    _ slot: Int, recipients: Int = 1, resolved: Int = .max, of material: JobMaterial? = nil,
    priority: Priority = .normal
  ) throws -> PushRun {
    let run = try Claims.run(
      (0..<recipients).map { "u\($0)" }, material: material ?? job, slot: slot, priority: priority)
    _ = run.takeBatch(max: resolved)
    return run
  }

  private func add(_ run: PushRun, _ pushes: Range<Int>, atNs nowNs: UInt64 = 0) {
    for push in pushes { queue.append(run, push: push, nowNs: nowNs) }
  }

  /// What leaves, as (place of the chunk, pushes of it).
  private func leave(atNs nowNs: UInt64 = 0, isAwaited: Bool = false) -> [[Int]]? {
    queue.popFirst(nowNs: nowNs) { _ in isAwaited }.map { draft in
      draft.tags.map { [PushTag($0).slot, PushTag($0).push] }
    }
  }

  private func slots(_ left: [[Int]]?) -> [Int: Int] {
    (left ?? []).reduce(into: [:]) { $0[$1[0], default: 0] += 1 }
  }

  @Test("pushes of which no more can come leave at once")
  func leavesAtOnce() throws {
    add(try run(0), 0..<3)
    #expect(leave() == [[0, 0], [0, 1], [0, 2]])
    #expect(queue.count == 0 && leave() == nil)
  }

  @Test("pushes of which more can come wait, for as long as may be and no longer")
  func waits() throws {
    add(try run(0), 0..<3, atNs: 7)
    #expect(leave(atNs: 7 + Self.waitNs - 1, isAwaited: true) == nil)
    #expect(queue.dueNs == 7 + Self.waitNs)
    #expect(leave(atNs: 7 + Self.waitNs, isAwaited: true)?.count == 3)
    #expect(queue.dueNs == nil)
  }

  @Test("a full chunk waits for the chunk behind it")
  func waitsForNextChunk() throws {
    let full = try run(0, recipients: Limits.chunkRecipientsMax)
    add(full, 0..<3)
    #expect(leave() == nil)
    add(try run(1), 0..<2)
    #expect(slots(leave()) == [0: 3, 1: 2])
  }

  @Test("chunks leave whole where they fit")
  func keepsChunksWhole() throws {
    for slot in 0..<3 { add(try run(slot), 0..<4) }
    #expect(slots(leave(isAwaited: true)) == [0: 4, 1: 4])
    #expect(leave(isAwaited: true) == nil)
    #expect(slots(leave()) == [2: 4])
  }

  @Test("a chunk that may bring more is not cut while others fill a request")
  func waitsForWholeChunks() throws {
    let growing = try run(0, recipients: 2, resolved: 1)
    add(growing, 0..<8)
    add(try run(1), 0..<5)
    #expect(leave(isAwaited: true) == nil)
    add(try run(2), 0..<5)
    #expect(slots(leave(isAwaited: true)) == [1: 5, 2: 5])
    #expect(queue.count == 8)
  }

  @Test("when the first has waited long enough, a chunk that may bring more and came later stays")
  func leavesGrowingChunk() throws {
    add(try run(0), 0..<4, atNs: 1)
    add(try run(1, recipients: 2, resolved: 1), 0..<2, atNs: 2)
    #expect(leave(atNs: Self.waitNs, isAwaited: true) == nil)
    #expect(slots(leave(atNs: 1 + Self.waitNs, isAwaited: true)) == [0: 4])
    #expect(leave(atNs: 1 + Self.waitNs, isAwaited: true) == nil)
    #expect(slots(leave(atNs: 2 + Self.waitNs, isAwaited: true)) == [1: 2])
  }

  @Test("a chunk that fills a request is joined by no other, and its rest waits")
  func fillsAlone() throws {
    add(try run(0), 0..<4)
    add(try run(1), 0..<12)
    #expect(slots(leave(isAwaited: true)) == [1: 10])
    #expect(slots(leave()) == [0: 4, 1: 2])
  }

  @Test("jobs, and priorities of a job, leave apart, high priority first")
  func keepsApart() throws {
    add(try run(0), 0..<1)
    add(try run(1, of: BatchStage.material()), 0..<1)
    add(try run(2, priority: .high), 0..<1)
    #expect(queue.count(upTo: 0) == 1 && queue.count == 3)
    #expect([leave(), leave(), leave()] == [[[2, 0]], [[0, 0]], [[1, 0]]])
  }

  @Test("pushes of a job that say it in other languages leave apart")
  func keepsLanguagesApart() throws {
    let run = try run(0)
    for (push, variant) in [UInt8(1), 0, 1].enumerated() {
      queue.append(run, push: push, wording: Wording(variant: variant), nowNs: 0)
    }
    #expect([leave(), leave(), leave()] == [[[0, 0], [0, 2]], [[0, 1]], nil])
  }

  @Test("a push whose text is its own leaves alone")
  func keepsOwnTextsApart() throws {
    let run = try run(0)
    for push in 0..<2 { queue.append(run, push: push, togetherMax: 1, nowNs: 0) }
    #expect([leave(), leave()] == [[[0, 0]], [[0, 1]]])
  }

  @Test("a large job lets others take their turn")
  func takesTurns() throws {
    add(try run(0), 0..<30)
    add(try run(1, of: BatchStage.material()), 0..<2)
    #expect((0..<4).map { _ in slots(leave()) } == [[0: 10], [1: 2], [0: 10], [0: 10]])
  }

  @Test("what is put back leaves next, and as it was")
  func putsBack() throws {
    add(try run(0), 0..<2)
    var draft = try #require(queue.popFirst(nowNs: 0) { _ in false })
    add(try run(1), 0..<1)
    queue.putBack(draft.split(after: 1))
    #expect(draft.tags.count == 1 && queue.count == 2)
    #expect([leave(), leave()] == [[[0, 1]], [[1, 0]]])
  }

  @Test("what is taken out is counted no more")
  func filters() throws {
    add(try run(0), 0..<2)
    queue.append(BatchQueue.Draft(tags: [PushTag(try run(1), push: 0).raw], rank: 1))
    queue.filter { PushTag($0).push == 1 }
    #expect(queue.count == 1)
    #expect(queue.removeAll().map { PushTag($0).push } == [1])
    #expect(queue.count == 0)
  }
}
