import Logging
import Testing

@testable import Worker

@Suite struct SetupHoldTests {
  private static let second: UInt64 = 1_000_000_000
  private var hold = SetupHold()

  private mutating func refuse(
    _ count: Int, isSure: Bool = true, atSecond second: UInt64 = 100, elapsedNs: UInt64 = 1_000_000
  ) -> [SetupHold.Consequence] {
    (0..<count).map { _ in
      hold.noteRefusal(
        "TopicDisallowed", isSure: isSure, nowNs: second * Self.second, elapsedNs: elapsedNs)
    }
  }

  @Test("refusals in a row begin a hold, and count until then")
  mutating func opens() {
    let consequences = refuse(SetupHold.refusalsMin + 1)
    #expect(consequences.dropLast(2).allSatisfy { $0 == .counted })
    #expect(consequences.suffix(2) == [.opened, .held])
    #expect(hold.allowance(nowNs: 100 * Self.second) == 0)
  }

  @Test("those that may be of single tokens take as many as a mass death")
  mutating func misfits() {
    #expect(refuse(SetupHold.misfitsMin - 1, isSure: false).allSatisfy { $0 == .counted })
    #expect(refuse(1, isSure: false) == [.opened])
  }

  @Test("an accept in between begins the count anew, and ends a hold")
  mutating func ends() {
    _ = refuse(SetupHold.refusalsMin - 1)
    let wasHolding = hold.noteAccept()
    #expect(!wasHolding && hold.isClean)
    #expect(refuse(SetupHold.refusalsMin - 1).allSatisfy { $0 == .counted })
    _ = refuse(1)
    #expect(hold.isHolding)
    let hasEnded = hold.noteAccept()
    #expect(hasEnded)
    #expect(hold.allowance(nowNs: 100 * Self.second) == .max)
  }

  @Test("few are tried at a time, after pauses that grow to half a minute")
  mutating func probes() {
    _ = refuse(SetupHold.refusalsMin)
    var now = hold.untilNs
    var longest: UInt64 = 0
    for _ in 0..<10 {
      #expect(hold.allowance(nowNs: now) == SetupHold.probesMax)
      hold.noteProbes(SetupHold.probesMax)
      #expect(hold.allowance(nowNs: now) == 0)
      // One that says nothing makes room for another.
      hold.noteEnd()
      #expect(hold.allowance(nowNs: now) == 1)
      // What was sent before the pause prolongs nothing.
      let untilNs = hold.untilNs
      _ = hold.noteRefusal("x", isSure: true, nowNs: now, elapsedNs: 2 * Self.second)
      #expect(hold.untilNs == untilNs)
      _ = hold.noteRefusal("x", isSure: true, nowNs: now, elapsedNs: 0)
      longest = hold.untilNs - now
      now = hold.untilNs
    }
    #expect((30...38).contains(longest / Self.second))
  }

  @Test("a job's pushes wait by themselves, but for two at a time, until one is accepted")
  func holdsJobs() {
    var holds = JobHolds()
    let nowNs = 100 * Self.second, laterNs = 160 * Self.second
    func isHeld(_ job: String, isProven: Bool = true, _ nowNs: UInt64) -> Bool {
      holds.heldMs(job, isProven: isProven, nowNs: nowNs) != nil
    }
    func refuse(_ job: String, isSure: Bool, count: Int, _ nowNs: UInt64) {
      for _ in 0..<count {
        _ = holds.noteRefusal(
          of: job, "TopicDisallowed", isSure: isSure, nowNs: nowNs, elapsedNs: 1_000_000)
      }
    }
    refuse("calls", isSure: true, count: SetupHold.refusalsMin - 1, nowNs)
    #expect(!isHeld("calls", nowNs) && holds.current(isProven: true, nowNs: nowNs) == nil)
    refuse("calls", isSure: true, count: 1, nowNs)
    #expect(isHeld("calls", nowNs) && !isHeld("alerts", nowNs))
    #expect(holds.current(isProven: true, nowNs: laterNs)?.job == "calls")
    holds.noteSent("calls", nowNs: laterNs)
    #expect(!isHeld("calls", laterNs))
    holds.noteSent("calls", nowNs: laterNs)
    #expect(isHeld("calls", laterNs))
    holds.noteAccept(of: "calls")
    #expect(!isHeld("calls", laterNs) && holds.isClean)
  }

  @Test(
    "chunks of a held job stay away as a whole, those of others are begun, and a dead token ends it"
  )
  func keepsChunksAway() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let good = try stage.run(job: "alerts")
    stage.enqueue(good)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(0), 200)
    let held = try stage.run(devices: SetupHold.refusalsMin, slot: 1, job: "calls")
    stage.enqueue(held)
    stage.destination.offer(SetupHold.refusalsMin, stage.requests)
    let gate = stage.sending.gate
    for number in 1..<SetupHold.refusalsMin {
      stage.destination.answer(
        try stage.requests.tag(number), 400, #"{"reason": "TopicDisallowed"}"#)
    }
    #expect(gate.parkedMs(held.claim, held.material) == nil)
    let last = try stage.requests.tag(SetupHold.refusalsMin)
    stage.destination.answer(last, 400, #"{"reason": "TopicDisallowed"}"#)
    #expect(gate.parkedMs(held.claim, held.material) != nil)
    #expect(gate.parkedMs(good.claim, good.material) == nil)
    #expect(stage.lines.has(.error, "refuses every push of a job", ["job": "calls"]))
    let other = try stage.run(slot: 2, job: "calls")
    stage.enqueue(other)
    #expect(other.pushes[0].decision == .later && stage.destination.queued == 0)
    stage.destination.noteAccept(of: "calls")
    #expect(gate.parkedMs(held.claim, held.material) == nil)
  }

  @Test("a job that single tokens may be to blame for is held until the network accepts another")
  func holdsDoubtfulJobs() {
    var holds = JobHolds()
    let nowNs = 100 * Self.second
    func refuse(isSure: Bool, count: Int) {
      for _ in 0..<count {
        _ = holds.noteRefusal(
          of: "calls", "x", isSure: isSure, nowNs: nowNs, elapsedNs: 1_000_000)
      }
    }
    refuse(isSure: false, count: SetupHold.misfitsMin)
    #expect(holds.heldMs("calls", isProven: false, nowNs: nowNs) != nil)
    #expect(holds.heldMs("calls", isProven: true, nowNs: nowNs) == nil)
    #expect(holds.current(isProven: true, nowNs: nowNs) == nil)
    refuse(isSure: true, count: SetupHold.refusalsMin)
    #expect(holds.heldMs("calls", isProven: true, nowNs: nowNs) != nil)
  }

  @Test("of many refused jobs the one that was refused longest ago is forgotten, a held one last")
  func boundsJobs() {
    var holds = JobHolds()
    for _ in 0..<SetupHold.refusalsMin {
      _ = holds.noteRefusal(
        of: "held", "x", isSure: true, nowNs: 100 * Self.second, elapsedNs: 1)
    }
    for job in 0..<JobHolds.jobsMax {
      _ = holds.noteRefusal(
        of: "\(job)", "x", isSure: true, nowNs: 100 * Self.second + UInt64(job), elapsedNs: 1)
    }
    #expect(!holds.hasRefused("0") && holds.hasRefused("1") && holds.hasRefused("held"))
    holds.forget(nowNs: 101 * Self.second + JobHolds.lifeNs)
    #expect(holds.hasRefused("held") && !holds.hasRefused("1"))
    holds.forget(nowNs: 101 * Self.second + SetupHold.lifeNs)
    #expect(holds.isClean)
  }

  @Test("a hold that nothing waits for any more is forgotten")
  mutating func forgets() {
    _ = refuse(SetupHold.refusalsMin)
    let lapsesNs = 100 * Self.second + SetupHold.lifeNs
    #expect(hold.isCurrent(nowNs: lapsesNs - 1) && !hold.isCurrent(nowNs: lapsesNs))
    hold.forgetOld(nowNs: lapsesNs - 1)
    #expect(hold.isHolding)
    hold.forgetOld(nowNs: lapsesNs)
    #expect(hold.isClean && hold.allowance(nowNs: lapsesNs) == .max)
  }
}
