import Logging
import Model
import Reactor
import Store
import Testing

@testable import Worker

@Suite struct SendingGateTests {
  @Test("to ask whether a push may be sent decides nothing")
  func asks() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    #expect(stage.sending.gate.hindrance(run, 0) == nil)
    run.confirmBinding(0, generation: 1, atNs: 0)
    #expect(stage.sending.gate.hindrance(run, 0) == .oldBinding)
    stage.switchOff(.network(app: "shop", .apns))
    #expect(
      stage.sending.gate.hindrance(run, 0)
        == .switchedOff(delayMs: WorkerLimits.stoppedDelayMs))
    run.change(to: .cancelled)
    #expect(stage.sending.gate.hindrance(run, 0) == .cancelled)
    #expect(run.openPushes == 1 && !run.hasStaleBindings)
    let expired = try stage.run(expiry: .at(ms: 1))
    #expect(stage.sending.gate.hindrance(expired, 0) == .expired)
  }

  @Test("a push whose binding is old is not sent before its binding was read again")
  func readsOldBindingsAgain() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    run.confirmBinding(1, generation: 1, atNs: 0)
    stage.enqueue(run)
    stage.destination.offer(10, stage.requests)
    #expect(stage.requests.paths == ["/3/device/token-0-0"])
    #expect(run.takeStaleBindings() == [1] && run.openPushes == 2)
    run.confirmBinding(1, generation: 2, atNs: stage.loop.nowNs)
    stage.sending.router.enqueue(run, push: 1)
    stage.destination.offer(10, stage.requests)
    #expect(stage.requests.paths.last == "/3/device/token-0-1")
  }

  @Test(
    "pushes whose bindings are old end without Redis when their run may not send any more",
    arguments: [PushRun.Standing.stale, .cancelled, .paused])
  func endsOldBindings(standing: PushRun.Standing) throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    run.keepStaleBindings([0, 1])
    run.change(to: standing)
    #expect(run.openPushes == 2)
    stage.sending.gate.endStaleBindings(run)
    #expect(run.openPushes == 0)
    #expect(!run.hasStaleBindings)
  }

  @Test("nothing more is sent of a chunk that is not this worker's, and what waited is taken out")
  func heedsStanding() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    stage.sending.gate.apply(.ok, run)
    #expect(run.standing == .active && stage.destination.queued == 2)
    stage.sending.gate.apply(.stale, run)
    #expect(run.standing == .stale && stage.destination.queued == 0 && run.openPushes == 0)
    #expect(stage.lines.has(.notice, "a chunk is not this worker's any more"))
  }

  @Test("a lane that is to end sends nothing more, and what waited burns no attempt")
  func pausesAll() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    stage.destination.offer(1, stage.requests)
    stage.sending.gate.pauseAll()
    #expect(run.standing == .paused && run.openPushes == 1 && run.inFlight == 1)
    stage.destination.answer(try stage.requests.tag(0), 200)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 1 && news.retries == 0)
    #expect(news.residuals.count == 1)
  }

  @Test("a network that is switched off gives back what waited for it, and the app's runs go on")
  func heedsSwitches() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    let run = try stage.run()
    stage.enqueue(run)
    stage.switchOff(.network(app: "shop", .apns))
    #expect(run.standing == .active && run.openPushes == 0 && stage.destination.queued == 0)
    let next = try stage.run()
    stage.enqueue(next)
    #expect(next.openPushes == 0)
    let whole = try stage.run()
    stage.switchOff(.app("shop"))
    #expect(whole.standing == .paused)
  }

  @Test("a bucket that is switched off stops the runs that tell of it, and no others")
  func heedsBucketSwitches() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    func event(in bucket: String) -> AppEvent {
      AppEvent(bucketID: bucket, bucketType: .sync, type: "DATA_OBJECT_UPDATED", scopeApp: "a1")
    }
    let run = try stage.run(event: event(in: "orders"))
    let other = try stage.run(event: event(in: "carts"), slot: 1)
    let plain = try stage.run(slot: 2)
    for run in [run, other, plain] { stage.enqueue(run) }
    #expect(stage.destination.queued == 3)
    stage.switchOff(.bucket(app: "shop", "orders"), .bucket(app: "other", "carts"))
    #expect(run.standing == .paused && run.openPushes == 0)
    #expect(other.standing == .active && plain.standing == .active)
    #expect(stage.destination.queued == 2)
    #expect(run.takeNews(isFinal: false).retries == 0)
    let expired = try stage.run(expiry: .at(ms: 1), event: event(in: "orders"), slot: 3)
    #expect(stage.sending.gate.isSwitchedOff(expired) && !stage.sending.gate.isStopped(expired))
  }

  @Test("a topic that is switched off stops the jobs to it, and no others")
  func heedsTopicSwitches() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    stage.switchOff(.topic(app: "shop", "news"), .topic(app: "other", "goals"))
    let switches = stage.sending.gate.switches
    #expect(switches.stops(app: "shop", bucket: nil, topic: "news"))
    #expect(switches.stops(app: "shop", bucket: "carts", topic: "news"))
    #expect(!switches.stops(app: "shop", bucket: "news", topic: "goals"))
    #expect(!switches.stops(app: "shop", bucket: nil))
  }
}
