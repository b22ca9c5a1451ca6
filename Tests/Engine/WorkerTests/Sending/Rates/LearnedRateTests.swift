import LocalServices
import Testing

@testable import Worker

@Suite struct LearnedRateTests {
  private static let msNs: UInt64 = 1_000_000
  private static let secondNs: UInt64 = 1_000_000_000

  /// Lanes that draw from one bucket as long as they have something to send, a network that takes so many a second, and answers
  /// that take 20 ms; all of it by a clock of its own.
  private struct World {
    let limit: Double
    let full: Double
    var lanes: [LearnedRate]
    var dice = SeededDice(seed: 11)
    var nowNs: UInt64 = LearnedRateTests.secondNs
    var bucket = 0.0
    var network: Double
    var accepted = 0
    var refused = 0
    private var answers: [(atNs: UInt64, lane: Int, sentNs: UInt64)] = []

    init(lanes: Int, limit: Double, full: Double) {
      self.limit = limit
      self.full = full
      self.lanes = Array(repeating: LearnedRate(full: full), count: lanes)
      network = limit / 4
    }

    mutating func run(seconds: Double) {
      for _ in 0..<Int(seconds * 200) { step() }
    }

    private mutating func step() {
      nowNs += 5 * LearnedRateTests.msNs
      network = min(limit / 4, network + limit * 0.005)
      while let first = answers.first, first.atNs <= nowNs {
        answers.removeFirst()
        _ = lanes[first.lane].noteRefused(sentNs: first.sentNs, nowNs: nowNs)
      }
      let lane = dice.below(lanes.count)
      let rate = lanes[lane].perSecond(nowNs: nowNs)
      bucket = min(rate / 10, bucket + rate * 0.005)
      let count = Int(bucket)
      bucket -= Double(count)
      lanes[lane].noteSent(count, nowNs: nowNs)
      for _ in 0..<count {
        if network >= 1 {
          network -= 1
          accepted += 1
        } else {
          refused += 1
          answers.append((nowNs + 20 * LearnedRateTests.msNs, lane, nowNs))
        }
      }
    }
  }

  @Test(
    "lanes that learn for themselves send at what the network takes together, and waste little",
    arguments: [(1, 5_000.0), (3, 5_000.0), (12, 5_000.0), (1, 200.0), (3, 200.0), (3, 9_500.0)])
  func learns(lanes: Int, limit: Double) {
    var world = World(lanes: lanes, limit: limit, full: 10_000)
    // Until it is found.
    world.run(seconds: 10)
    (world.accepted, world.refused) = (0, 0)
    world.run(seconds: 60)
    let share = Double(world.accepted) / (limit * 60)
    let wasted = Double(world.refused) / Double(world.accepted + world.refused)
    #expect(share >= 0.9, "\(share) of the limit")
    #expect(wasted <= 0.1, "\(wasted) wasted")
  }

  @Test("nothing is refused: nothing is lowered, whatever is sent")
  func staysFull() {
    var world = World(lanes: 2, limit: 20_000, full: 10_000)
    world.run(seconds: 5)
    #expect(world.refused == 0)
    #expect(world.lanes.allSatisfy { $0.perSecond(nowNs: world.nowNs) == 10_000 })
  }

  @Test("a network that takes everything again is sent everything within half a minute")
  func recovers() {
    var rate = LearnedRate(full: 10_000)
    var nowNs = Self.secondNs
    for _ in 0..<2_000 {
      nowNs += Self.msNs
      rate.noteSent(10, nowNs: nowNs)
      for _ in 0..<9 { _ = rate.noteRefused(sentNs: nowNs, nowNs: nowNs) }
    }
    #expect(rate.perSecond(nowNs: nowNs) < 200)
    #expect(rate.perSecond(nowNs: nowNs + 60 * Self.secondNs) == 10_000)
  }

  @Test("one that takes nothing is still probed, and may be sent more by and by")
  func probes() {
    var rate = LearnedRate(full: 10_000)
    var nowNs = Self.secondNs
    for _ in 0..<4_000 {
      nowNs += Self.msNs
      rate.noteSent(10, nowNs: nowNs)
      for _ in 0..<10 { _ = rate.noteRefused(sentNs: nowNs, nowNs: nowNs) }
    }
    let perSecond = rate.perSecond(nowNs: nowNs)
    #expect((LearnedRate.leastPerSecond...50).contains(perSecond))
    #expect(rate.perSecond(nowNs: nowNs + 10 * Self.secondNs) > perSecond)
  }

  @Test("refusals of what was sent before it was lowered do not lower it again")
  func forgivesThePast() {
    var rate = LearnedRate(full: 10_000)
    var nowNs = Self.secondNs
    while rate.perSecond(nowNs: nowNs) == 10_000, nowNs < 3 * Self.secondNs {
      nowNs += Self.msNs
      rate.noteSent(10, nowNs: nowNs)
      for _ in 0..<5 { _ = rate.noteRefused(sentNs: nowNs, nowNs: nowNs) }
    }
    let lowered = rate.perSecond(nowNs: nowNs)
    for _ in 0..<5_000 {
      let isLowered = rate.noteRefused(sentNs: nowNs, nowNs: nowNs + 20 * Self.msNs)
      #expect(!isLowered)
    }
    #expect(rate.perSecond(nowNs: nowNs) == lowered)
  }
}
