import Testing

@testable import Bench

@Suite struct IndexedCampaignTests {
  @Test("a rate is that of a part of a campaign, and none where that was not seen twice")
  func rates() {
    let points = [(0.0, 0), (1, 10), (2, 20), (3, 90), (4, 97), (5, 98)].map {
      Campaign.Point(atSeconds: $0.0, accepted: $0.1)
    }
    #expect(IndexedCampaign.rate(points, of: 100, in: 0.1...0.2) == 10)
    #expect(IndexedCampaign.rate(points, of: 100, in: 0.97...0.99) == 1)
    #expect(IndexedCampaign.rate(points, of: 100, in: 0.5...0.6) == nil)
  }
}
