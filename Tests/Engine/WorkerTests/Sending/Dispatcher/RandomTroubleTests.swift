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

  /// The same of the only one that is tried apart.
  func callMalformedApart(_ times: Int) throws {
    let apart = try #require(destination.apart.transport)
    for _ in 0..<times {
      let number = requests.taken.count
      destination.transport(apart, hasRoomFor: 1, in: requests)
      destination.end(try requests.tag(number), .malformed)
    }
  }
}
