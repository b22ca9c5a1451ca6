import HTTP2
import Model
import Providers
import Reactor
import Store
import Testing

@testable import Worker

@Suite struct BatchSendingTests {
  @Test("pushes of two chunks of a job leave in one request, and an accept is the outcome of each")
  func fillsAcrossChunks() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    let first = try stage.run(["a", "b"], of: job)
    let second = try stage.run(["c"], of: job)
    stage.offer()
    #expect(stage.sent == ["a+b+c"])
    #expect(stage.requests.bodies[0].hasSuffix(">") && stage.ids[0].count == 36)
    #expect(first.inFlight == 2 && second.inFlight == 1)
    #expect(stage.sending.submitter.batches.pushes == 3 && stage.destination.queued == 0)
    stage.destination.answer(try stage.requests.tag(0), 200)
    #expect(stage.sending.decider.accepted == 3 && first.isFinished && second.isFinished)
    #expect(first.takeNews(isFinal: true).counts[.jpush]?.accepted == 2)
    #expect(stage.sending.latency.takeAll().map(\.count) == [1])
    #expect(stage.sending.submitter.batches.count == 0)
  }

  @Test("pushes of two jobs never leave in one request")
  func keepsJobsApart() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    _ = try stage.run(["a"], of: BatchStage.material())
    _ = try stage.run(["b"], of: BatchStage.material())
    stage.offer()
    #expect(stage.sent == ["a", "b"])
  }

  @Test("pushes of one badge leave in one request, with that badge, whatever their chunks")
  func keepsBadges() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material(raisesBadge: true)
    let badges: [String: Int32] = ["a": 1, "b": 1, "c": 2, "d": 2, "e": 1]
    _ = try stage.run(["a", "c", "b"], of: job, badges: badges)
    _ = try stage.run(["d", "e"], of: job, badges: badges)
    _ = try stage.run(["f"], of: job, badges: ["f": 2])
    stage.offer()
    #expect(Set(zip(stage.sent, stage.badges).map { "\($0) \($1)" }) == ["a+b+e 1", "c+d+f 2"])
  }

  @Test(
    "a text that a badge can make too long rejects each of its pushes, whatever their badges are")
  func rejectsLongBadges() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(
      ["a", "b", "c"], of: BatchStage.material(raisesBadge: true, title: "Hi!"),
      badges: ["a": 1_000, "b": 1_000, "c": 7])
    stage.offer()
    #expect(stage.sent.isEmpty && run.openPushes == 0 && stage.destination.queued == 0)
    #expect(run.takeNews(isFinal: true).counts[.jpush]?.rejected == 3)
  }

  @Test("while a chunk may bring more its pushes wait, and leave when the request is full")
  func waits() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b", "c", "d"], of: BatchStage.material(), resolved: 2)
    stage.offer()
    #expect(stage.sent.isEmpty && stage.destination.queued == 2)
    #expect(stage.destination.waiting.batchTimer?.isArmed == true)
    stage.resolve(run, 1)
    stage.offer()
    #expect(stage.sent == ["a+b+c"])
    stage.resolve(run, 1)
    stage.offer()
    #expect(stage.sent == ["a+b+c", "d"])
  }

  @Test("pushes wait for bindings that are being read")
  func waitsForReading() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    let run = try stage.run(["a"], of: job)
    let other = try stage.run(["b"], of: job, resolved: 0)
    _ = other.takeBatch(max: 1)
    stage.sending.room.noteResolving(other, 1)
    stage.offer()
    #expect(stage.sent.isEmpty && other.isResolved)
    stage.sending.room.noteResolved(other, 1)
    stage.offer()
    #expect(stage.sent == ["a"] && run.inFlight == 1)
  }

  @Test("a request that is refused as a whole is tried by halves until the bad token is alone")
  func splits() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b", "c"], of: BatchStage.material())
    stage.offer()
    stage.destination.answer(try stage.requests.tag(0), 400)
    #expect(run.openPushes == 3 && stage.destination.queued == 3)
    stage.offer()
    #expect(stage.sent == ["a+b+c", "a+b", "c"])
    stage.destination.answer(try stage.requests.tag(1), 400)
    stage.destination.answer(try stage.requests.tag(2), 200)
    stage.offer()
    #expect(stage.sent.suffix(2) == ["a", "b"])
    stage.destination.answer(try stage.requests.tag(3), 400)
    stage.destination.answer(try stage.requests.tag(4), 200)
    let news = run.takeNews(isFinal: true)
    #expect(news.invalidations.map(\.token) == ["a"] && news.retries == 0)
    #expect(news.counts[.jpush]?.accepted == 2)
    #expect(Set(stage.ids).count == 5)
  }

  @Test("a push that the network blames is tried alone, beside halves of the others")
  func blames() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b", "c"], of: BatchStage.material())
    stage.offer()
    stage.destination.answer(try stage.requests.tag(0), 400, "b")
    stage.offer()
    #expect(stage.sent == ["a+b+c", "b", "a", "c"])
    // Blaming it does not remove it: its own answer does.
    stage.destination.answer(try stage.requests.tag(1), 200)
    stage.destination.answer(try stage.requests.tag(2), 400)
    stage.destination.answer(try stage.requests.tag(3), 200)
    let news = run.takeNews(isFinal: true)
    #expect(news.invalidations.map(\.token) == ["a"])
    #expect(news.counts[.jpush]?.accepted == 2)
  }

  @Test("a blamed token that was in no push of the request changes nothing")
  func blamesNobody() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    _ = try stage.run(["a", "b", "c"], of: BatchStage.material())
    stage.offer()
    stage.destination.answer(try stage.requests.tag(0), 400, "x")
    stage.offer()
    #expect(stage.sent == ["a+b+c", "a+b", "c"])
  }

  @Test("halves of a refused request that wait for their bindings do not come together again")
  func staysSplit() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    let run = try stage.run(["a", "b", "c"], of: job)
    stage.offer()
    stage.destination.answer(try stage.requests.tag(0), 400)
    for push in run.pushes.indices { run.confirmBinding(push, generation: 1, atNs: 0) }
    stage.offer()
    #expect(stage.sent == ["a+b+c"] && stage.destination.queued == 0)
    for push in run.takeStaleBindings() {
      run.confirmBinding(push, generation: 1, atNs: stage.loop.nowNs)
      stage.sending.router.enqueue(run, push: push)
    }
    // Nor do others join them.
    _ = try stage.run(["d"], of: job)
    stage.offer()
    #expect(stage.sent == ["a+b+c", "a+b", "c", "d"])
  }

  @Test("a timer of pushes that were put aside meanwhile asks for no connection")
  func asksForNothing() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    _ = try stage.run(["a", "b"], of: BatchStage.material(), resolved: 1)
    stage.offer()
    #expect(stage.destination.waiting.batchTimer?.isArmed == true)
    stage.destination.pause(forMs: 5_000)
    #expect(stage.destination.queued == 0 && stage.destination.waiting.batchTimer?.isArmed == false)
  }

  @Test("what a request is answered becomes of each of its pushes, and counts once for the breaker")
  func sharesOutcomes() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let dead = try stage.run(["a", "b"], of: BatchStage.material())
    let troubled = try stage.run(["c", "d"], of: BatchStage.material())
    stage.offer()
    stage.destination.answer(try stage.requests.tag(0), 410)
    stage.destination.answer(try stage.requests.tag(1), 503)
    #expect(dead.takeNews(isFinal: true).invalidations.map(\.token) == ["a", "b"])
    #expect(troubled.takeNews(isFinal: true).retries == 2)
    #expect(stage.destination.health.breaker.state == .closed)
  }

  @Test("a lost connection leaves each push unknown, and a request that was not sent is sent again")
  func losesConnections() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let lost = try stage.run(["a", "b"], of: BatchStage.material())
    let given = try stage.run(["c"], of: BatchStage.material(onUnknown: .giveUp))
    let unsent = try stage.run(["d", "e"], of: BatchStage.material())
    stage.offer()
    #expect(stage.sent == ["a+b", "c", "d+e"])
    stage.destination.end(try stage.requests.tag(0), .unknown)
    stage.destination.end(try stage.requests.tag(1), .unknown)
    stage.destination.end(try stage.requests.tag(2), .notSent)
    #expect(lost.takeNews(isFinal: true).retries == 2)
    #expect(given.takeNews(isFinal: true).counts[.jpush]?.failed == 1)
    #expect(unsent.openPushes == 2)
    stage.offer()
    #expect(stage.sent.last == "d+e" && unsent.inFlight == 2)
    #expect(stage.ids[3] == stage.ids[2])
  }

  @Test("pushes of one request that are tried again come back together, whatever their chunks")
  func comesBackTogether() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    for ending in [nil, 503] {
      let runs = try ["a", "b", "c"].map { try stage.run([$0], of: job) }
      stage.offer()
      let tag = try stage.requests.tag(stage.requests.taken.count - 1)
      if let ending {
        stage.destination.answer(tag, ending)
      } else {
        stage.destination.end(tag, .unknown)
      }
      #expect(Set(runs.flatMap(\.residualLines).map(\.delayMs)).count == 1)
    }
  }

  @Test("pushes that shared a request do not wait for others of their chunk")
  func hurriesWithRequest() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b"], of: BatchStage.material())
    stage.sending.rescheduling.putAside(run, 0, delayMs: 2_000)
    #expect(run.pushes[1].decision == .open && run.hasNews)
  }

  @Test("what may not be sent leaves its batch before that, and the others go")
  func withdraws() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    let cancelled = try stage.run(["a"], of: job)
    let stale = try stage.run(["b", "c"], of: job)
    stale.confirmBinding(0, generation: 1, atNs: 0)
    cancelled.change(to: .cancelled)
    stage.offer()
    #expect(stage.sent == ["c"] && cancelled.openPushes == 0)
    #expect(stale.takeStaleBindings() == [0] && stale.inFlight == 1)
    let expired = try stage.run(["d"], of: BatchStage.material(expiry: .at(ms: 1)))
    stage.offer()
    #expect(stage.sent == ["c"] && expired.openPushes == 0 && stage.destination.queued == 0)
  }

  @Test("what is withdrawn from the queue is not sent with the others")
  func takesOut() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let job = BatchStage.material()
    let paused = try stage.run(["a"], of: job)
    _ = try stage.run(["b"], of: job)
    stage.sending.gate.apply(.paused, paused)
    #expect(paused.openPushes == 0 && stage.destination.queued == 1)
    stage.offer()
    #expect(stage.sent == ["b"])
    _ = try stage.run(["c"], of: BatchStage.material())
    stage.destination.pause(forMs: 5_000)
    #expect(stage.destination.queued == 0)
  }

  @Test("an answer that comes too late touches nobody")
  func knowsLateAnswers() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a"], of: BatchStage.material())
    stage.offer()
    let tag = try stage.requests.tag(0)
    stage.destination.end(tag, .notSent)
    stage.offer()
    stage.destination.answer(tag, 410)
    #expect(run.openPushes == 1 && run.inFlight == 1)
    stage.runs.remove(run)
    let next = try stage.run(["b"], of: BatchStage.material())
    stage.destination.answer(try stage.requests.tag(1), 410)
    #expect(next.openPushes == 1 && stage.sending.submitter.batches.count == 0)
  }

  @Test("what a connection does not take leaves next, as it was")
  func waitsForRoom() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b"], of: BatchStage.material())
    stage.requests.room = 0
    stage.offer()
    #expect(run.inFlight == 0 && stage.destination.queued == 2)
    #expect(stage.sending.submitter.batches.count == 0)
    stage.requests.room = 1
    stage.offer()
    #expect(stage.sent == ["a+b"])
  }

  @Test("a rate counts pushes, whatever carries them")
  func keepsToRates() throws {
    let stage = try BatchStage(limits: [RateLimit(name: "app:shop", perSecond: 100)])
    defer { stage.sending.close() }
    _ = try stage.run(["a", "b", "c"], of: BatchStage.material())
    stage.offer()
    #expect(stage.sent.isEmpty && stage.destination.queued == 3)
    stage.sending.rates["app:shop"]?.granted(2, retryMs: 1_000)
    stage.offer()
    #expect(stage.sent == ["a+b"] && stage.destination.queued == 1)
  }

  @Test("pushes of a job in quarantine are tried apart, one a request")
  func triesApart() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    let run = try stage.run(["a", "b"], of: BatchStage.material())
    for number in 0..<Quarantine.complaintsMin {
      #expect(stage.sent == Array(repeating: "a+b", count: number))
      stage.offer()
      stage.destination.end(try stage.requests.tag(number), .malformed)
    }
    #expect(stage.destination.queued == 0 && run.openPushes == 2)
    stage.offerApart(2)
    #expect(stage.sent.suffix(3) == ["a+b", "a", "b"])
  }

  @Test("what was to be tried apart, and left with others after all, is not rejected with them")
  func rejectsOnlyWhatIsAlone() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    _ = try stage.run(["x"], of: BatchStage.material())
    for number in 0..<Quarantine.complaintsMin {
      stage.offer()
      stage.destination.end(try stage.requests.tag(number), .malformed)
    }
    // Its job is in quarantine.
    let run = try stage.run(["a", "b", "c"], of: BatchStage.material())
    stage.offerApart(1)
    let first = Quarantine.complaintsMin
    stage.destination.answer(try stage.requests.tag(first), 200)
    // Their bindings are read again, and meanwhile their job leaves quarantine.
    for push in 0...2 { run.confirmBinding(push, generation: 1, atNs: 0) }
    stage.offerApart(3)
    for push in run.takeStaleBindings() {
      run.confirmBinding(push, generation: 1, atNs: stage.loop.nowNs)
      stage.sending.router.enqueue(run, push: push)
    }
    stage.offer()
    #expect(stage.sent.suffix(2) == ["x", "a+b+c"])
    for number in 1...Quarantine.complaintsMin {
      stage.destination.end(try stage.requests.tag(first + number), .malformed)
      #expect(run.openPushes == 3)
      stage.offer()
    }
    // As often as it takes, and still none was refused in a request of its own.
    stage.offerApart(3)
    #expect(stage.sent.suffix(3) == ["a", "b", "c"])
    let last = first + Quarantine.complaintsMin
    stage.destination.end(try stage.requests.tag(last + 1), .malformed)
    for number in 2...3 { stage.destination.answer(try stage.requests.tag(last + number), 200) }
    #expect(run.openPushes == 1)
    #expect(run.takeNews(isFinal: false).counts[.jpush]?.accepted == 2)
  }

  @Test("a malformed request of many counts once for the breaker")
  func countsMalformedOnce() throws {
    let stage = try BatchStage()
    defer { stage.sending.close() }
    for number in 0..<10 {
      _ = try stage.run(["a", "b", "c"], of: BatchStage.material(), job: "sale-\(number)")
    }
    stage.offer()
    for number in 0..<10 {
      stage.destination.end(try stage.requests.tag(number), .malformed)
    }
    #expect(stage.destination.health.breaker.state == .closed)
  }
}
