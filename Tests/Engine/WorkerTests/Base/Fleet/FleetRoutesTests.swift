import Model
import Store
import Synchronization
import Testing

@testable import Worker

@Suite struct FleetRoutesTests {
  private static let own = RouteTable(fields: [("shop", "apns|production")])
  private static let other = RouteTable(fields: [("shop", "fcm|production")])

  private static func news(
    isGathering: Bool, isSharing: Bool = false, _ tables: RouteTable...
  ) -> RouteNews {
    RouteNews(
      hasWork: false, isAnythingWaiting: false, isGathering: isGathering, isSharing: isSharing,
      digests: tables.map(\.digest))
  }

  @Test("that nobody has a route is not known before all workers could say what they have")
  func knowsWhenAllHaveSpoken() {
    let fleet = FleetRoutes()
    #expect(fleet.othersHave("shop", .fcm, .production) == nil)
    fleet.use(Self.news(isGathering: true, Self.own), new: [:])
    #expect(fleet.othersHave("shop", .fcm, .production) == nil)
    fleet.use(
      Self.news(isGathering: true, Self.own, Self.other), new: [Self.other.digest: Self.other])
    #expect(fleet.othersHave("shop", .fcm, .production) == true)
    #expect(fleet.othersHave("shop", .fcm, .development) == nil)
    fleet.use(Self.news(isGathering: false, Self.own, Self.other), new: [:])
    #expect(fleet.othersHave("shop", .fcm, .development) == false)
  }

  @Test(
    "the routes of apps of Redis, which no configuration has, are looked up when they are asked about"
  )
  func looksUp() {
    let clock = Mutex<Int64>(0)
    let fleet = FleetRoutes(nowMs: { clock.withLock { $0 } })
    fleet.use(Self.news(isGathering: false, Self.own), new: [:])
    #expect(fleet.othersHave("news", .fcm, .production) == false && fleet.takeAsked().isEmpty)
    fleet.use(Self.news(isGathering: false, isSharing: true, Self.own), new: [:])
    #expect(fleet.mustLook(at: "news"))
    #expect(fleet.othersHave("news", .fcm, .production) == nil)
    #expect(fleet.othersHave("gone", .fcm, .production) == nil)
    let asked = fleet.takeAsked()
    #expect(Set(asked) == ["news", "gone"] && fleet.takeAsked().isEmpty)
    fleet.note(
      shared: asked, places: asked.map { $0 == "news" ? "apns|production,fcm|production" : nil })
    #expect(fleet.othersHave("news", .fcm, .production) == true && !fleet.mustLook(at: "news"))
    #expect(fleet.othersHave("news", .fcm, .development) == false)
    #expect(fleet.othersHave("gone", .fcm, .production) == false)
    // What is asked about all the time is looked up before it is forgotten.
    #expect(fleet.takeAsked().isEmpty)
    clock.withLock { $0 = 2_500 }
    #expect(fleet.othersHave("news", .fcm, .production) == true && fleet.takeAsked() == ["news"])
    // A while later the app may be another.
    clock.withLock { $0 = 5_000 }
    #expect(fleet.othersHave("news", .fcm, .production) == nil)
    #expect(fleet.takeAsked() == ["news"])
    // What a configuration has needs no look.
    fleet.use(
      Self.news(isGathering: false, isSharing: true, Self.other),
      new: [Self.other.digest: Self.other])
    #expect(fleet.othersHave("shop", .fcm, .production) == true && fleet.takeAsked().isEmpty)
  }

  @Test("however many apps are asked about that nobody has, another one is asked about as well")
  func asksAboutAll() {
    let fleet = FleetRoutes()
    fleet.use(Self.news(isGathering: false, isSharing: true, Self.own), new: [:])
    for number in 0..<15_000 {
      #expect(fleet.othersHave("none-\(number)", .fcm, .production) == nil)
    }
    #expect(fleet.othersHave("news", .fcm, .production) == nil)
    let asked = fleet.takeAsked()
    #expect(asked.count == 15_001 && asked.contains("news"))
    fleet.note(shared: asked, places: asked.map { $0 == "news" ? "fcm|production" : nil })
    #expect(fleet.othersHave("news", .fcm, .production) == true)
    #expect(fleet.othersHave("none-0", .fcm, .production) == false)
  }

  @Test("an app that another worker has left out may have any route there")
  func heedsLeftOut() {
    let leftOut = RouteTable(fields: [("shop", RouteTable.leftOut)])
    #expect(!leftOut.has("shop") && leftOut.leavesOut("shop") && !leftOut.leavesOut("other"))
    let fleet = FleetRoutes()
    fleet.use(Self.news(isGathering: false, Self.own, leftOut), new: [leftOut.digest: leftOut])
    #expect(fleet.othersHave("shop", .apns, .development) == true)
    #expect(fleet.othersHave("other", .apns, .development) == false)
  }
}
