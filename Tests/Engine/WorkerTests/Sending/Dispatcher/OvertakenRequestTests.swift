import HTTP2
import Testing

@testable import Worker

@Suite struct OvertakenRequestTests {
  @Test(
    "requests whose time runs out are no trouble of the network's while those behind them are answered; others are",
    arguments: [true, false])
  func passesOverOvertakenRequests(areOvertaken: Bool) throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let (late, others) = (BreakerLimits.firstTroublesMin, BreakerLimits.firstTroublesMin * 20)
    let timeoutNs: UInt64 = 1_000_000_000
    try stage.acceptFirst(elapsedNs: timeoutNs * 2)
    let run = try stage.run(devices: late + others)
    stage.enqueue(run)
    stage.destination.offer(late + others, stage.requests)
    for number in 1 + late...late + others {
      // Submitted after those whose time runs out now, or before them.
      let elapsedNs = areOvertaken ? timeoutNs / 2 : timeoutNs * 2
      stage.destination.answer(try stage.requests.tag(number), 200, elapsedNs: elapsedNs)
    }
    for number in 1...late {
      stage.destination.end(try stage.requests.tag(number), .unknown, elapsedNs: timeoutNs)
    }
    #expect(stage.destination.health.breaker.isSlowing == !areOvertaken)
    #expect(run.pushes[0].decision == .later, "it may have been processed: an attempt in any case")
  }

  @Test("that many requests in vain are overtaken by few is trouble of the network's")
  func judgesShareOfOvertaken() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let late = BreakerLimits.surplusMin + BreakerLimits.troublesPerGood
    try stage.acceptFirst(elapsedNs: 2_000_000_000)
    let run = try stage.run(devices: late + 1)
    stage.enqueue(run)
    stage.destination.offer(late + 1, stage.requests)
    stage.destination.answer(try stage.requests.tag(1 + late), 200)
    for number in 1...late {
      stage.destination.end(try stage.requests.tag(number), .unknown, elapsedNs: 1_000_000_000)
    }
    #expect(stage.destination.health.breaker.state == .open)
  }
}

extension SendingStage {
  /// Has the network accept a push of another job: it takes as many requests as there is room for from then on.
  fileprivate func acceptFirst(elapsedNs: UInt64) throws {
    let run = try run(slot: 1, job: "first")
    enqueue(run)
    destination.offer(1, requests)
    destination.answer(try requests.tag(0), 200, elapsedNs: elapsedNs)
  }
}
