import Store
import HTTP2
import Model
import Providers
import Testing

@testable import Worker

@Suite struct DispatcherTests {
  @Test("a push is submitted with its device token, and an accept is its outcome")
  func sends() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    #expect(stage.requests.taken.isEmpty && stage.sending.room.hasRoom(for: .low))
    stage.destination.offer(10, stage.requests)
    #expect(stage.requests.paths == ["/3/device/token-0-0"])
    #expect(run.inFlight == 1 && !run.isFinished)
    stage.destination.answer(try stage.requests.tag(0), 200)
    #expect(run.inFlight == 0 && run.isFinished && stage.sending.decider.accepted == 1)
    #expect(run.takeNews(isFinal: true).counts[.apns]?.accepted == 1)
    #expect(stage.sending.latency.takeAll().map(\.count) == [1])
  }

  @Test("a network that asks to wait for ages is asked again within an hour, and the log says so")
  func doubtsRetryAfter() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    let ages = "99999999999999999999999"
    stage.destination.answer(try stage.requests.tag(0), 503, retryAfter: ages)
    let delays = run.takeNews(isFinal: true).residuals.map(\.delayMs)
    #expect(delays.count == 1 && delays.allSatisfy { (3_600_000...3_602_000).contains($0) })
    #expect(stage.lines.all.contains { $0.contains("more than an hour") }, "\(stage.lines.all)")
  }

  @Test("ages to wait do not end a job that has less time: it is tried again halfway")
  func doubtsRetryAfterBeforeExpiry() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(expiry: .at(ms: stage.wallMs + 600_000))
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(
      try stage.requests.tag(0), 503, retryAfter: "Fri, 01 Jan 2999 00:00:00 GMT")
    let delays = run.takeNews(isFinal: true).residuals.map(\.delayMs)
    #expect(delays.count == 1 && delays.allSatisfy { (290_000...302_000).contains($0) })
  }

  @Test("a job one of whose requests may have broken its connection is sent apart from others")
  func setsApart() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 3)
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.end(try stage.requests.tag(0), .unknown, isAccused: true)
    #expect(stage.destination.quarantine.jobs == 1)
    stage.destination.offer(10, stage.requests)
    #expect(stage.requests.taken.count == 1 && stage.destination.apart.queue.count == 2)
  }

  @Test(
    "a push that a network calls malformed while it answers nobody else is tried again, not rejected"
  )
  func condemnsNobodyUnheard() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    try stage.callMalformed(Quarantine.complaintsMin)
    try stage.callMalformedApart(Quarantine.refusalsMax)
    #expect(run.pushes[0].decision == .later)
  }

  @Test("of a network in trouble a transport gets no more than its share of what it may carry")
  func slowsDown() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 100)
    stage.enqueue(run)
    // Before that few are tried.
    stage.destination.noteAccept()
    for number in 0..<100 {
      if number % 10 < 6 {
        _ = stage.destination.noteTrouble(elapsedNs: 0, retryAfterMs: nil, reason: "503")
      } else {
        stage.destination.noteGood(elapsedNs: 0)
      }
    }
    stage.destination.offer(100, stage.requests)
    // 40 % are good, of the 67 % from which on all may go.
    #expect(stage.requests.taken.count == 60)
  }

  @Test("probes that may have broken their connection make room for others")
  func probesAgain() throws {
    let stage = try SendingStage()
    let destination = try stage.destinationToProbe()
    defer {
      destination.close()
      stage.sending.close()
    }
    stage.enqueue(try stage.run(devices: 3 * BreakerLimits.probesMax), to: destination)
    // One answer: the network is well.
    destination.offer(1, stage.requests)
    destination.answer(try stage.requests.tag(0), 200, elapsedNs: 0)
    destination.offer(100, stage.requests)
    #expect(stage.requests.taken.count == 1 + BreakerLimits.probesMax)
    for probe in 1...BreakerLimits.probesMax {
      destination.end(
        try stage.requests.tag(probe), .unknown, isAccused: true, elapsedNs: 0)
    }
    #expect(destination.health.breaker.state == .halfOpen)
    #expect(stage.probeRoom(of: destination) == BreakerLimits.probesMax)
  }

  @Test(
    "a probe makes room for one other, whatever becomes of it",
    arguments: [.notSent, .malformed, .unknown] as [RequestAnswer.Disposition])
  func countsProbesOnce(_ disposition: RequestAnswer.Disposition) throws {
    let stage = try SendingStage()
    let destination = try stage.destinationToProbe()
    defer {
      destination.close()
      stage.sending.close()
    }
    for slot in 0..<BreakerLimits.probesMax {
      stage.enqueue(try stage.run(slot: slot, job: "sale-\(slot)"), to: destination)
    }
    destination.offer(100, stage.requests)
    #expect(stage.requests.taken.count == BreakerLimits.probesMax)
    for probe in 0..<2 {
      let tag = try stage.requests.tag(probe)
      _ = stage.runs[PushTag(tag)]?.noteResend(0)
      destination.end(tag, disposition, isRefused: disposition == .notSent, elapsedNs: 0)
    }
    #expect(destination.health.breaker.state == .halfOpen)
    #expect(stage.probeRoom(of: destination) == 2)
  }

  @Test(
    "requests that a useful connection takes with it are no trouble of the network's; others are",
    arguments: [true, false])
  func passesOverCutConnections(isCutOff: Bool) throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: BreakerLimits.firstTroublesMin)
    stage.enqueue(run)
    stage.destination.offer(BreakerLimits.firstTroublesMin, stage.requests)
    for number in 0..<BreakerLimits.firstTroublesMin {
      stage.destination.end(
        try stage.requests.tag(number), .unknown, isCutOff: isCutOff,
        elapsedNs: BreakerLimits.waitedNs)
    }
    #expect(stage.destination.health.breaker.state == (isCutOff ? .closed : .open))
    #expect(run.pushes[0].decision == .later, "it may have been processed: an attempt in any case")
  }

  @Test(
    "what a network says of a token is what becomes of it",
    arguments: [
      (410, "Unregistered", "uninstall"), (400, "BadTopic", "reject"),
      (503, "ServiceUnavailable", "retry"),
    ])
  func classifies(status: Int, reason: String, fate: String) throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(0), status, "{\"reason\":\"\(reason)\"}")
    let news = run.takeNews(isFinal: true)
    #expect(news.invalidations.count == (fate == "uninstall" ? 1 : 0))
    #expect((news.counts[.apns]?.rejected ?? 0) == (fate == "reject" ? 1 : 0))
    #expect(news.retries == (fate == "retry" ? 1 : 0))
  }

  @Test("a token that is called bad is tried in the other environment, once")
  func triesOtherEnvironment() throws {
    let stage = try SendingStage(.production, .development)
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.answer(try stage.requests.tag(0), 400, "{\"reason\":\"BadDeviceToken\"}")
    let other = stage.sending.destinations.destination(1)
    #expect(run.openPushes == 1 && other.queued == 1)
    other.use(TestDirectory.credential)
    other.offer(1, stage.requests)
    other.answer(try stage.requests.tag(1), 400, "{\"reason\":\"BadDeviceToken\"}")
    #expect(run.takeNews(isFinal: true).invalidations.map(\.token) == ["token-0-0"])
  }

  @Test("a push that is switched off before the other environment is tried burns no attempt")
  func switchesOffRedirected() throws {
    let stage = try SendingStage(.production, .development)
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.switchOff(.user(app: "shop", "a"))
    stage.destination.answer(try stage.requests.tag(0), 400, "{\"reason\":\"BadDeviceToken\"}")
    #expect(run.openPushes == 0 && stage.sending.destinations.destination(1).queued == 0)
    let news = run.takeNews(isFinal: true)
    #expect(news.retries == 0)
    let line = String(decoding: try #require(news.residuals.first).lines, as: UTF8.self)
    #expect(line == "apns\tdevelopment\ttoken-0-0\ta\t1\t0\n")
  }

  @Test("what was surely not processed is sent again at once, what may have been is an attempt")
  func tellsUnsentFromUnknown() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.destination.end(try stage.requests.tag(0), .notSent)
    #expect(run.openPushes == 1 && stage.destination.queued == 1)
    stage.destination.offer(1, stage.requests)
    stage.destination.end(try stage.requests.tag(1), .unknown)
    #expect(run.openPushes == 0 && run.takeNews(isFinal: true).retries == 1)
  }

  @Test("a push that comes while its destination is paused is put aside and burns no attempt")
  func parks() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    stage.sending.destinations.destination(0).pause(forMs: 5_000)
    let run = try stage.run()
    stage.enqueue(run)
    let news = run.takeNews(isFinal: true)
    #expect(news.retries == 0 && news.residuals.count == 1)
  }

  @Test("a destination without room for all gets the rest later")
  func waitsForRoom() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 3)
    stage.enqueue(run)
    stage.requests.room = 2
    stage.destination.offer(10, stage.requests)
    #expect(run.inFlight == 2 && stage.destination.queued == 1 && run.openPushes == 3)
  }
}
