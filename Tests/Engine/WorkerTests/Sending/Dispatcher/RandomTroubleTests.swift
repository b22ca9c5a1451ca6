import HTTP2
import Model
import Providers
import Store
import Testing

@testable import Worker

/// A network of which one server in many answers wrongly: what it says of one request is no word about all.
@Suite struct RandomTroubleTests {
  private static let expired = "{\"reason\":\"ExpiredProviderToken\"}"

  @Test(
    "a push whose stream is reset is sent again among others, and nobody of its job is set apart")
  func resendsAmongOthers() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 3)
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.end(try stage.requests.tag(0), .malformed)
    #expect(stage.destination.apart.queue.count == 0)
    stage.destination.offer(10, stage.requests)
    #expect(stage.requests.taken.count == 4)
    for number in 1...3 { stage.destination.answer(try stage.requests.tag(number), 200) }
    #expect(run.isFinished && stage.sending.decider.accepted == 3)
    #expect(run.takeNews(isFinal: true).retries == 0)
  }

  @Test(
    "a push that alone is malformed again and again, while others are answered, is rejected alone")
  func findsThePoison() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 1 + Quarantine.complaintsMin)
    stage.sending.router.enqueue(run, push: 0)
    for number in 1...Quarantine.complaintsMin {
      #expect(stage.destination.apart.queue.count == 0)
      stage.sending.router.enqueue(run, push: number)
      let first = stage.requests.taken.count
      stage.destination.offer(2, stage.requests)
      let tags = try (first..<first + 2).map(stage.requests.tag)
      for tag in tags where PushTag(tag).push != 0 { stage.destination.answer(tag, 200) }
      for tag in tags where PushTag(tag).push == 0 { stage.destination.end(tag, .malformed) }
    }
    #expect(run.pushes[0].decision == .open && stage.destination.apart.queue.count == 1)
    // Others go on being answered.
    let others = try stage.run(slot: 1, job: "others")
    stage.enqueue(others)
    let number = stage.requests.taken.count
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(number), 200)
    try stage.callMalformedApart(Quarantine.refusalsMax)
    #expect(run.pushes[0].decision == .rejected)
    #expect(run.pushes.dropFirst().allSatisfy { $0.decision == .accepted })
  }

  /// One push that is tried apart, while another job was answered since.
  private func stageOneApart() throws -> (stage: SendingStage, run: PushRun) {
    let stage = try SendingStage()
    let run = try stage.run()
    stage.enqueue(run)
    try stage.callMalformed(Quarantine.complaintsMin)
    stage.enqueue(try stage.run(slot: 1, job: "others"))
    let number = stage.requests.taken.count
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(number), 200)
    return (stage, run)
  }

  @Test("what one connection alone resets, on which nothing is good, is not rejected")
  func doubtsTheConnection() throws {
    let (stage, run) = try stageOneApart()
    defer { stage.sending.close() }
    let apart = try #require(stage.destination.apart.transport)
    stage.destination.transport(apart, connectionOpened: 1)
    for _ in 0..<3 * Quarantine.refusalsMax {
      let sign = stage.destination.end(try stage.takeApart(), .malformed, on: apart)
      #expect(sign == .useless, "another connection is wanted")
    }
    #expect(run.pushes[0].decision == .open)
    // Others of it, of which one is another trial, are enough.
    try stage.callMalformedApart(Quarantine.refusalsMax - 1)
    #expect(run.pushes[0].decision == .rejected)
  }

  @Test("what was tried apart once counts as tried among others when it is")
  func forgetsThatItWasApart() throws {
    let (stage, run) = try stageOneApart()
    defer { stage.sending.close() }
    for _ in 0..<3 * Quarantine.refusalsMax {
      stage.destination.end(try stage.takeApart(), .malformed)
    }
    #expect(run.pushes[0].decision == .open)
  }

  @Test("a push that nobody suspects shows first whether the connection of suspects is well")
  func vouchesFirst() throws {
    let (stage, run) = try stageOneApart()
    defer { stage.sending.close() }
    let destination = stage.destination
    let apart = try #require(destination.apart.transport)
    let good = try stage.run(devices: 2 + Quarantine.refusalsMax, slot: 2, job: "good")
    stage.enqueue(good)
    // The first connection is bad: the suspect is not tried on it.
    destination.transport(apart, connectionOpened: 1)
    let voucher = try stage.takeApart()
    #expect(stage.runs[PushTag(voucher)] === good)
    let sign = destination.end(voucher, .malformed, on: apart)
    #expect(sign == .useless)
    // The second is well, whatever becomes of the suspect on it.
    destination.transport(apart, connectionOpened: 1)
    for number in 1...Quarantine.refusalsMax {
      #expect(run.pushes[0].decision == .open)
      let voucher = try stage.takeApart()
      #expect(stage.runs[PushTag(voucher)] === good)
      let goodSign = destination.answer(voucher, 200, on: apart)
      #expect(goodSign == .good)
      let suspect = try stage.takeApart()
      #expect(stage.runs[PushTag(suspect)] === run)
      let sign = destination.end(suspect, .malformed, on: apart)
      #expect(sign != .useless || number == Quarantine.refusalsMax)
    }
    #expect(run.pushes[0].decision == .rejected)
  }

  @Test("the first reset of a push is trouble of its connection, and no further one of it is")
  func blamesTheConnection() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    stage.enqueue(try stage.run())
    for number in 0..<2 {
      stage.destination.offer(1, stage.requests)
      let sign = stage.destination.end(try stage.requests.tag(number), .malformed)
      #expect(sign == (number == 0 ? .trouble : .none))
    }
  }

  @Test(
    "a reset says nothing of its connection when all of its job may be malformed",
    arguments: [true, false])
  func suspectsTheJob(wasAccepted: Bool) throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    stage.destination.offer(2, stage.requests)
    if wasAccepted { stage.destination.answer(try stage.requests.tag(0), 200) }
    _ = stage.destination.note(.accusedWithOthers, ofJob: "sale")
    let sign = stage.destination.end(try stage.requests.tag(1), .malformed)
    #expect(sign == (wasAccepted ? .trouble : .none))
  }

  @Test("a job of which a push was accepted is not rejected as a whole")
  func sparesTheProvenJob() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.sending.router.enqueue(run, push: 0)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(0), 200)
    for trial in 0..<Quarantine.refusalsMax {
      _ = stage.destination.note(.refusedApart(trial: trial), ofJob: "sale")
    }
    _ = stage.destination.note(.accusedWithOthers, ofJob: "sale")
    stage.enqueue(try stage.run(slot: 1, job: "others"))
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(1), 200)
    stage.sending.router.enqueue(run, push: 1)
    #expect(run.pushes[1].decision == .open && stage.destination.apart.queue.count == 1)
  }

  @Test("a push that may have broken a connection comes back as an attempt, whatever it waited for")
  func remembersTheSuspect() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    stage.destination.offer(2, stage.requests)
    let (accused, other) = (try stage.requests.tag(0), try stage.requests.tag(1))
    stage.destination.end(accused, .malformed, isAccused: true)
    stage.sending.dispatcher.putAside([accused, other], of: stage.destination, forMs: 1_000)
    #expect(run.pushes.allSatisfy { $0.decision == .later })
    #expect(run.takeNews(isFinal: true).retries == 1)
  }

  @Test(
    "a credential that one answer in many refuses stays in use, and the refused push is sent again")
  func trustsTheOthers() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    stage.destination.offer(2, stage.requests)
    stage.destination.answer(try stage.requests.tag(0), 200)
    stage.destination.answer(try stage.requests.tag(1), 403, Self.expired)
    #expect(stage.sending.destinations.destination(0).credential != nil)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(2), 200)
    #expect(run.isFinished && stage.sending.decider.accepted == 2)
    #expect(run.takeNews(isFinal: true).retries == 0)
  }

  @Test("a push that is refused again and again, while others go through, uses up attempts")
  func blamesThePush() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 1)
    let others = try stage.run(devices: 8, slot: 1, job: "others")
    stage.enqueue(run)
    for number in 0...WorkerLimits.isolatedRefusalsMax {
      stage.sending.router.enqueue(others, push: number)
      let first = stage.requests.taken.count
      stage.destination.offer(2, stage.requests)
      let tags = try (first..<first + 2).map(stage.requests.tag)
      let other = try #require(tags.first { stage.runs[PushTag($0)] === others })
      let refused = try #require(tags.first { stage.runs[PushTag($0)] === run })
      stage.destination.answer(other, 200, elapsedNs: 0)
      stage.destination.answer(refused, 403, Self.expired, elapsedNs: 0)
    }
    #expect(run.pushes[0].decision == .later)
    #expect(run.takeNews(isFinal: true).retries == 1)
    #expect(stage.sending.destinations.destination(0).credential != nil)
  }

  @Test("a credential that nearly all answers refuse is given up, and no attempt is burned")
  func givesUpTheRefused() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: Authorization.unprovenRefusalsMax)
    stage.enqueue(run)
    let destination = stage.destination
    destination.offer(Authorization.unprovenRefusalsMax, stage.requests)
    for number in 0..<Authorization.unprovenRefusalsMax {
      destination.answer(try stage.requests.tag(number), 403, Self.expired, elapsedNs: 0)
    }
    #expect(destination.credential == nil)
    #expect(destination.refusal?.reason == "ExpiredProviderToken")
    #expect(run.openPushes == Authorization.unprovenRefusalsMax)
    #expect(run.takeNews(isFinal: false).retries == 0)
  }
}

extension SendingStage {
  /// Has the only push that waits called malformed so often, among others.
  func callMalformed(_ times: Int) throws {
    for _ in 0..<times {
      let number = requests.taken.count
      destination.offer(1, requests)
      destination.end(try requests.tag(number), .malformed)
    }
  }

  /// The same of the only one that is tried apart, each time on another connection.
  func callMalformedApart(_ times: Int) throws {
    let apart = try #require(destination.apart.transport)
    for _ in 0..<times {
      destination.transport(apart, connectionOpened: 1)
      let sign = destination.end(try takeApart(), .malformed, on: apart)
      #expect(sign == .useless)
    }
  }

  /// Has the connection of those that are tried apart take a request. - Returns: its tag.
  func takeApart() throws -> UInt64 {
    let number = requests.taken.count
    destination.transport(
      try #require(destination.apart.transport), hasRoomFor: 1, in: requests)
    return try requests.tag(number)
  }
}
