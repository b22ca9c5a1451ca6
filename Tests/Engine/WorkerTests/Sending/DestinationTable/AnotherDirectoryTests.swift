import Logging
import Model
import Providers
import Store
import Testing

@testable import Worker

/// What becomes of destinations when a lane goes by another directory.
@Suite struct AnotherDirectoryTests {
  @Test("a destination that the next directory has, too, stays as it is")
  func keeps() throws {
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    let destination = stage.destination
    let run = try stage.run()
    stage.enqueue(run)
    stage.sending.use(try TestDirectory.of(.production, .development))
    #expect(stage.sending.destinations[0] === destination)
    #expect(!destination.isRetired && destination.queued == 1)
    let number = stage.sending.destinations.number(
      app: "shop", network: .apns, environment: .development)
    #expect(number == 1)
  }

  @Test(
    "what waits for an entry that went comes back at once, and the next push goes to what has its place"
  )
  func replaces() throws {
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    let old = stage.destination
    let run = try stage.run(devices: 2)
    stage.enqueue(run)
    old.offer(1, stage.requests)
    #expect(old.queued == 1 && run.inFlight == 1)

    stage.sending.use(try TestDirectory.of(.production, from: 1))
    #expect(old.isRetired && old.queued == 0 && old.credential == nil)
    // What is in flight is answered yet, and a refusal of the old credential pauses nobody.
    old.answer(try stage.requests.tag(0), 200)
    #expect(stage.sending.decider.accepted == 1)
    let news = run.takeNews(isFinal: true)
    #expect(news.residuals.map(\.delayMs) == [0] && news.retries == 0)

    let next = try stage.run(slot: 1, job: "next")
    let target = try Array("apns\tproduction\t1\t1\ttoken".utf8).withUnsafeBytes { line in
      stage.sending.router.targets(next)[try #require(BindingLine(line))]
    }
    #expect(target == PushTarget(to: 1))
    #expect(stage.sending.destinations.used(by: "shop").isEmpty)
    #expect(stage.sending.watch.alarmConditions.isEmpty)
    #expect(!stage.lines.has(.warning, "its pushes wait"))
  }

  @Test("a push that had found its target before the entry went comes back soon")
  func comesBack() throws {
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    // Nothing was sent there before, so the destination is made only now.
    let run = try stage.run()
    stage.sending.use(try TestDirectory.of(.production, from: 1))
    stage.enqueue(run)
    #expect(stage.sending.destinations[0]?.isRetired == true)
    let news = run.takeNews(isFinal: true)
    #expect(news.residuals.map(\.delayMs) == [WorkerLimits.retiredDelayMs])
    #expect(news.retries == 0)
  }

  @Test("a destination whose entry went takes no credential any more")
  func takesNoCredential() throws {
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    let old = stage.destination
    stage.sending.use(try TestDirectory.of(.production, from: 1))
    old.use(
      Credential(header: "bearer u", generation: 2, expiresAtMs: .max, refreshAtMs: .max))
    old.pause(forMs: 1)
    #expect(old.credential == nil && old.isRetired)
  }

  @Test("what went is let go of when the last run ends that may go by it, and nothing is in flight")
  func letsGo() throws {
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    weak var old: Destination?
    do {
      let run = try stage.run()
      stage.enqueue(run)
      let destination = stage.destination
      old = destination
      destination.offer(1, stage.requests)
      stage.sending.use(try TestDirectory.of(.production, from: 1))
      stage.sending.destinations.checkReachable()
      #expect(stage.sending.destinations[0] === destination)
      destination.answer(try stage.requests.tag(0), 200)
      stage.runs.remove(run)
    }
    stage.sending.destinations.wake()
    stage.sending.destinations.checkReachable()
    #expect(stage.sending.destinations[0] == nil)
    // Its transport may look for it until the turn is over.
    #expect(old != nil)
    stage.sending.destinations.checkReachable()
    #expect(old == nil)
  }

  @Test(
    "a rate that another directory has wider or narrower counts from then on, and goes with its last destination"
  )
  func changesRates() throws {
    func limit(_ perSecond: Double) -> RateLimit {
      RateLimit(name: "app:shop", perSecond: perSecond, isOfApp: true)
    }
    let stage = try SendingStage(.production, limits: [limit(50)])
    defer { stage.sending.close() }
    _ = stage.destination
    #expect(stage.sending.rates["app:shop"]?.limit.perSecond == 50)
    #expect(stage.sending.congestion.directJobsMax["shop"] != nil)
    stage.sending.use(try TestDirectory.of(.production, from: 1, limits: [limit(80)]))
    let next = stage.sending.destinations.destination(1)
    #expect(next.limits.map(\.limit.perSecond) == [80])
    #expect(stage.sending.rates["app:shop"]?.current.perSecond == 80)

    // The same entry with another rate: its destination and its connections stay.
    stage.sending.use(try TestDirectory.of(.production, from: 1, limits: [limit(20)]))
    #expect(stage.sending.destinations[1] === next && !next.isRetired)
    #expect(next.limits.map(\.limit.perSecond) == [20])

    stage.sending.use(try TestDirectory.of(.production, from: 2))
    #expect(stage.sending.congestion.directJobsMax["shop"] == nil)
    stage.sending.destinations.checkReachable()
    #expect(stage.sending.rates.isEmpty)
    #expect(stage.sending.rates.allowance(ofApp: "shop") == nil)
  }

  @Test(
    "of destinations that take a rate for different things the narrowest counts, while it is sent to"
  )
  func narrowestRate() throws {
    func entry(_ number: Int, _ perSecond: Double) throws -> ProviderDirectory.Entry {
      try #require(
        try TestDirectory.of(
          .production, app: "app-\(number)", from: number,
          limits: [RateLimit(name: "fcm:project", perSecond: perSecond)]
        ).entries.first)
    }
    func directory(_ entries: ProviderDirectory.Entry...) -> ProviderDirectory {
      ProviderDirectory(entries: entries)
    }
    let stage = try SendingStage(.production)
    defer { stage.sending.close() }
    var perSecond: Double? { stage.sending.rates["fcm:project"]?.limit.perSecond }
    stage.sending.use(directory(try entry(5, 50), try entry(6, 20), try entry(7, 90)))
    _ = stage.sending.destinations.destination(5)
    #expect(perSecond == 50)
    _ = stage.sending.destinations.destination(7)
    #expect(perSecond == 50)
    _ = stage.sending.destinations.destination(6)
    #expect(perSecond == 20)
    // The narrowest becomes wider than another.
    stage.sending.use(directory(try entry(5, 50), try entry(6, 60), try entry(7, 90)))
    #expect(perSecond == 50)
    stage.sending.use(directory(try entry(5, 80), try entry(6, 60), try entry(7, 70)))
    #expect(perSecond == 60)
    // It goes.
    stage.sending.use(directory(try entry(5, 80), try entry(7, 70)))
    #expect(perSecond == 70)
    stage.sending.destinations.checkReachable()
    #expect(perSecond == 70)
    stage.sending.use(directory(try entry(5, 80)))
    #expect(perSecond == 80)
  }
}
