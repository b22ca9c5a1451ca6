import Testing

@testable import Worker

@Suite struct PoisonGateTests {
  private static let aloneNs = WorkerLimits.poisonAloneMs * 1_000_000
  private let gate = PoisonGate()

  @Test("one chunk is there at a time, and the next comes when it has left")
  func letsOneIn() throws {
    let first = try #require(gate.enter(nowNs: 1))
    #expect(gate.enter(nowNs: 2) == nil)
    gate.leave(first)
    #expect(gate.enter(nowNs: 2) != nil)
  }

  @Test("a chunk that stays long gives up its place, and does not take the next one's as it leaves")
  func endsStay() throws {
    let first = try #require(gate.enter(nowNs: 1))
    #expect(gate.enter(nowNs: Self.aloneNs) == nil)
    let second = try #require(gate.enter(nowNs: 1 + Self.aloneNs))
    gate.leave(first)
    #expect(gate.enter(nowNs: 2 + Self.aloneNs) == nil)
    gate.leave(second)
    #expect(gate.enter(nowNs: 2 + Self.aloneNs) != nil)
  }
}
