import Testing

@testable import HTTP2

@Suite struct TroubleRowTests {
  private static let enough = HTTP2Limits.outlierWeightMin

  /// A row of so many requests that all were in flight when the first failed.
  private func row(of count: Int) -> TroubleRow {
    var row = TroubleRow()
    for _ in 0..<count {
      row.note(.trouble, sentNs: 0, isAlone: true, nowNs: 10, goods: 100, rows: 5)
    }
    return row
  }

  @Test("a connection is bad when it has had nothing but trouble, and the others good answers")
  func tellsOutliers() {
    let othersGood = 100 + HTTP2Limits.othersGoodMin
    #expect(row(of: Self.enough).isOutlier(goods: othersGood, rows: 5))
    #expect(!row(of: Self.enough - 1).isOutlier(goods: othersGood, rows: 5))
    #expect(!row(of: Self.enough).isOutlier(goods: othersGood - 1, rows: 5))
  }

  @Test("where the others have trouble, too, it is not")
  func sparesTroubleOfAll() {
    let row = row(of: Self.enough)
    #expect(row.isOutlier(goods: 100 + 40, rows: 5 + 10))
    #expect(!row.isOutlier(goods: 100 + 40, rows: 5 + 11))
  }

  @Test("what was sent after the row began tells more, and the pauses between such trials grow")
  func weighsTrials() {
    var row = TroubleRow()
    var nowNs: UInt64 = 1_000
    var pauses: [UInt64] = []
    var trials = 0
    row.note(.trouble, sentNs: 0, isAlone: true, nowNs: nowNs, goods: 0, rows: 1)
    while !row.isOutlier(goods: 1_000, rows: 1) {
      pauses.append(row.dueNs - nowNs)
      nowNs = row.dueNs
      trials += 1
      row.note(.trouble, sentNs: nowNs, isAlone: true, nowNs: nowNs, goods: 1_000, rows: 1)
    }
    #expect(trials == 6)
    #expect(pauses.map { $0 / 1_000_000 } == [250, 500, 1_000, 2_000, 2_000, 2_000])
  }

  @Test("while all have trouble each is tried again soon")
  func keepsTrying() {
    var row = TroubleRow()
    for nowNs in 1...100 as ClosedRange<UInt64> {
      row.note(.trouble, sentNs: nowNs, isAlone: false, nowNs: nowNs, goods: 0, rows: 1)
      #expect(row.dueNs - nowNs == HTTP2Limits.troublePauseNsMin)
    }
  }
}
