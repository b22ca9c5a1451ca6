import Model
import Server
import Testing

@Suite struct FleetFeedTests {
  private static func count(_ words: String, in text: String) -> Int {
    text.split(separator: words, omittingEmptySubsequences: false).count - 1
  }

  private static func lastID(in text: String) -> String? {
    text.split(separator: "\n").last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
  }

  @Test("a page is told of every section, and then only of what has changed")
  func changes() async throws {
    let stage = FeedStage()
    let page = stage.page()
    let first = await page.told("event: jobs")
    #expect(first.hasPrefix("retry: 2000\n\n"))
    #expect(first.contains("event: store\n") && first.contains("data: {\"n\":1}\n\n"))
    await stage.fleet.say(.fleet, 2)
    await stage.pass()
    let text = await page.told("{\"n\":2}")
    #expect(Self.count("event: fleet\n", in: text) == 2)
    #expect(Self.count("event: jobs\n", in: text) == 1)
    #expect(Self.count("event: store\n", in: text) == 1)
  }

  @Test("a page that comes back gets what changed since its last event")
  func resumes() async throws {
    let stage = FeedStage()
    let text = await stage.page().told("event: jobs")
    let last = try #require(Self.lastID(in: text))
    await stage.fleet.say(.fleet, 2)
    await stage.pass()
    let later = await stage.page(lastEventID: last).told("{\"n\":2}")
    #expect(!later.contains("event: jobs") && !later.contains("event: store"))
  }

  @Test(
    "an event of another process, or of the future, or no event at all brings the whole state",
    arguments: ["abc-1", "abc", "-", "", "a-b-c", "abc-99999999999999999999", "x-1\nevent: y"])
  func strangeEvents(_ id: String) async throws {
    let stage = FeedStage()
    let text = await stage.page(lastEventID: id).told("event: jobs")
    #expect(text.contains("event: fleet"))
    let last = try #require(Self.lastID(in: text)).split(separator: "-")
    let future = await stage.page(lastEventID: "\(last[0])-1000").told("event: jobs")
    #expect(future.contains("event: fleet"))
  }

  @Test("many pages cost Redis one reading a second")
  func oneReader() async throws {
    let stage = FeedStage()
    let pages = (0..<50).map { _ in stage.page() }
    for page in pages { await page.told("event: jobs") }
    let before = await stage.fleet.looks
    await stage.fleet.say(.fleet, 2)
    await stage.pass(seconds: 4)
    for page in pages { await page.told("{\"n\":2}") }
    #expect(await stage.fleet.looks <= before + 5)
    #expect(await stage.feed.listenerCount == 50)
  }

  @Test("when Redis is away pages are told since when, and are told when it is back")
  func away() async throws {
    let stage = FeedStage()
    let page = stage.page()
    await page.told("event: jobs")
    await stage.fleet.fail("the store is away, try again")
    await stage.pass(seconds: 3)
    let text = await page.told("\"away\":true")
    #expect(text.contains("the store is away, try again"))
    // The same absence is told once.
    #expect(Self.count("\"away\":true", in: await page.all) == 1)
    await stage.fleet.fail(nil)
    await stage.fleet.say(.jobs, 3)
    await stage.pass()
    let back = await page.told("{\"n\":3}")
    #expect(Self.count("\"away\":false", in: back) == 2)
    // A page that comes meanwhile is told of the absence at once.
    await stage.fleet.fail("the store is away, try again")
    await stage.pass()
    await stage.page().told("\"away\":true")
  }

  @Test("a reading that hangs counts as an absence, and its end ends that")
  func hangs() async throws {
    let stage = FeedStage()
    let page = stage.page()
    await page.told("event: jobs")
    await stage.fleet.keepSilent(true)
    await stage.pass(seconds: ServerLimits.feedReadingSeconds + 1)
    await page.told("takes longer than")
    await stage.fleet.keepSilent(false)
    await stage.fleet.say(.jobs, 3)
    await stage.pass(seconds: 2)
    await page.told("{\"n\":3}")
  }

  @Test("a stream without news has a heartbeat")
  func heartbeat() async throws {
    let stage = FeedStage()
    await stage.fleet.fail("away")
    let page = stage.page()
    await page.told("\"away\":true")
    await stage.pass(seconds: ServerLimits.feedHeartbeatSeconds + 1)
    await page.told("\n\n:\n\n")
  }

  @Test("a page that reads nothing is dropped, and the others go on")
  func slowPages() async throws {
    let stage = FeedStage()
    let page = stage.page()
    let stuck = stage.page(isStuck: true)
    await page.told("event: jobs")
    await stuck.told("retry:")
    await stage.pass(seconds: ServerLimits.feedSlowSeconds + 2)
    #expect(await !stuck.ended())
    #expect(await stage.feed.listenerCount == 1)
    await stage.fleet.say(.jobs, 7)
    await stage.pass()
    await page.told("{\"n\":7}")
  }

  @Test("a stream ends after its time, so that its page shows its key again")
  func life() async throws {
    let stage = FeedStage()
    let page = stage.page()
    await page.told("event: jobs")
    await stage.pass(seconds: ServerLimits.feedLifeSeconds - 1)
    // While somebody listens, seconds go on.
    let other = stage.page()
    await other.told("event: jobs")
    await stage.pass(seconds: 2)
    // A page that is written to at that moment ends with the next second.
    for _ in 0..<60 where await !page.isEnded { await stage.pass() }
    #expect(await page.isEnded)
    #expect(await !other.isEnded)
  }

  @Test("a page that may look no longer is shut out within seconds")
  func revoked() async throws {
    let stage = FeedStage()
    let other = stage.page()
    let page = stage.page(while: { false })
    await page.told("event: jobs")
    await stage.pass(seconds: ServerLimits.feedRightsSeconds + 1)
    #expect(await page.ended())
    #expect(await !other.isEnded)
  }

  @Test("a page without a stream asks, and then gets what has changed")
  func polling() async throws {
    let stage = FeedStage()
    let first = try await stage.feed.latest(after: nil).objectValue
    let events = try #require(first?["events"]?.arrayValue)
    #expect(
      Set(events.compactMap { $0.objectValue?["event"]?.stringValue })
        == ["store", "fleet", "jobs"])
    let id = try #require(first?["id"]?.stringValue)
    let same = try await stage.feed.latest(after: id).objectValue
    #expect(same?["events"]?.arrayValue?.isEmpty == true && same?["id"]?.stringValue == id)
    await stage.fleet.say(.jobs, 2)
    await stage.pass()
    let news = try await stage.feed.latest(after: id).objectValue?["events"]?.arrayValue
    #expect(news?.map { $0.objectValue?["event"]?.stringValue } == ["jobs"])
    #expect(await stage.feed.listenerCount == 0)
  }

  @Test("more pages than there is room for are refused, and have room when others go")
  func room() async throws {
    let stage = FeedStage()
    // While somebody listens, seconds go on.
    let staying = stage.page()
    let pages = (1..<ServerLimits.feedListenersMax).map { _ in stage.page(while: { false }) }
    for page in pages + [staying] { await page.told("event: jobs") }
    #expect(await !stage.feed.hasRoom)
    #expect(await stage.page().ended())
    // No more than that: without any page no second passes.
    await stage.pass(seconds: ServerLimits.feedRightsSeconds)
    for page in pages { #expect(await page.ended()) }
    #expect(await stage.feed.hasRoom)
  }
}
