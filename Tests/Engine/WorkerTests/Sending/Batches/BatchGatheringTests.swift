import Testing

@testable import Worker

@Suite struct BatchGatheringTests {
  private static let waitNs = WorkerLimits.batchWaitMs * 1_000_000
  private var gathering = BatchGathering(
    material: BatchStage.material(), wording: Wording(), rank: 0)

  /// A chunk that brings no more pushes.
  private func run(_ slot: Int) throws -> PushRun {
    let run = try Claims.run(["u"], material: gathering.material, slot: slot)
    _ = run.takeBatch(max: 1)
    return run
  }

  private mutating func take(atNs nowNs: UInt64 = 0, isAwaited: Bool = false) -> [UInt64]? {
    gathering.take(upTo: 10, nowNs: nowNs) { _ in isAwaited }
  }

  @Test("the rest of a chunk that filled a request has waited as long as its first push")
  mutating func keepsWait() throws {
    let run = try run(0)
    gathering.append(0, of: run, nowNs: 3)
    for tag in UInt64(1)..<12 { gathering.append(tag, of: run, nowNs: 9) }
    #expect(take(atNs: 9, isAwaited: true) == Array(0..<10))
    #expect(gathering.dueNs == 3 + Self.waitNs && gathering.tags == [10, 11])
    #expect(take(atNs: 2 + Self.waitNs, isAwaited: true) == nil)
    #expect(take(atNs: 3 + Self.waitNs, isAwaited: true) == [10, 11])
  }

  @Test("a chunk that fills a request passes those that came before it")
  mutating func fullFirst() throws {
    gathering.append(100, of: try run(0), nowNs: 1)
    let full = try run(1)
    for tag in UInt64(0)..<10 { gathering.append(tag, of: full, nowNs: 2) }
    #expect(take(atNs: 2, isAwaited: true) == Array(0..<10))
    #expect(gathering.tags == [100] && gathering.dueNs == 1 + Self.waitNs)
  }

  @Test("a chunk that does not fit stays whole, and a smaller one behind it leaves")
  mutating func passesLarge() throws {
    for (slot, tags) in [0..<4, 4..<12, 12..<17].enumerated() {
      let run = try run(slot)
      for tag in tags { gathering.append(UInt64(tag), of: run, nowNs: 0) }
    }
    #expect(take() == [0, 1, 2, 3, 12, 13, 14, 15, 16])
    #expect(take() == Array(4..<12))
    #expect(gathering.isEmpty)
  }

  @Test("when the pushes that came first are taken out, the wait is that of those behind them")
  mutating func filters() throws {
    let (first, second) = (try run(0), try run(1))
    gathering.append(1, of: first, nowNs: 1)
    gathering.append(2, of: second, nowNs: 5)
    gathering.append(3, of: first, nowNs: 6)
    gathering.filter { $0 == 2 }
    #expect(gathering.count == 1 && gathering.dueNs == 5 + Self.waitNs)
    gathering.filter { _ in false }
    #expect(gathering.isEmpty)
  }
}
