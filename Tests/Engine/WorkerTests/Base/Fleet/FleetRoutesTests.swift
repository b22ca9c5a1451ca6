import Model
import Store
import Testing

@testable import Worker

@Suite struct FleetRoutesTests {
  private static let own = RouteTable(fields: [("shop", "apns|production")])
  private static let other = RouteTable(fields: [("shop", "fcm|production")])

  private static func news(isGathering: Bool, _ tables: RouteTable...) -> RouteNews {
    RouteNews(
      hasWork: false, isAnythingWaiting: false, isGathering: isGathering,
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
