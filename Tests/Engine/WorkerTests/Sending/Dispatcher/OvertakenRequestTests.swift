import HTTP2
import Testing

@testable import Worker

@Suite struct OvertakenRequestTests {
  @Test(
    "requests whose time runs out are no trouble of the network's while those behind them are answered; others are",
    arguments: [true, false])
  func passesOverOvertakenRequests(areOvertaken: Bool) throws {
    let stage = try SendingStage()
    defer { stage.dispatcher.close() }
    let (late, others) = (Breaker.firstAnswersMin, Breaker.firstAnswersMin * 20)
    let run = try stage.run(devices: late + others)
    stage.enqueue(run)
    stage.destination.offer(late + others, stage.requests)
    let timeoutNs: UInt64 = 1_000_000_000
    for number in late..<late + others {
      // Submitted after those whose time runs out now, or before them.
      let elapsedNs = areOvertaken ? timeoutNs / 2 : timeoutNs * 2
      stage.destination.answer(try stage.requests.tag(number), 200, elapsedNs: elapsedNs)
    }
    for number in 0..<late {
      stage.destination.end(try stage.requests.tag(number), .unknown, elapsedNs: timeoutNs)
    }
    #expect(stage.destination.breaker.sawTrouble == !areOvertaken)
    #expect(run.pushes[0].decision == .later, "it may have been processed: an attempt in any case")
  }

  @Test("that many requests in vain are overtaken by few is trouble of the network's")
  func judgesShareOfOvertaken() throws {
    let stage = try SendingStage()
    defer { stage.dispatcher.close() }
    let late = Breaker.firstAnswersMin * 4
    let run = try stage.run(devices: late + 1)
    stage.enqueue(run)
    stage.destination.offer(late + 1, stage.requests)
    stage.destination.answer(try stage.requests.tag(late), 200)
    for number in 0..<late {
      stage.destination.end(try stage.requests.tag(number), .unknown, elapsedNs: 1_000_000_000)
    }
    #expect(stage.destination.breaker.state == .open)
  }
}
