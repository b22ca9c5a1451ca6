import Testing

@testable import Reactor

@Suite struct DurationHistogramTests {
  @Test("a duration falls into the first bucket that is not below it, and adds to the sum")
  func adds() {
    var times = DurationHistogram(boundsUs: [100, 1_000])
    for ns: UInt64 in [0, 100_000, 100_001, 1_000_000, 1_000_001, 5_000_000_000] { times.add(ns) }
    #expect(times.counts == [2, 2, 2])
    #expect(times.sumNs == 5_002_200_002)
  }

  @Test("those of several lanes add up, and those of other bounds do not")
  func addsUp() {
    var sum = DurationHistogram(boundsUs: [100, 1_000])
    var more = sum
    more.add(50_000)
    more.add(5_000_000)
    sum += more
    sum += more
    #expect(sum.counts == [2, 0, 2] && sum.sumNs == 10_100_000)
    var other = DurationHistogram(boundsUs: [100])
    other.add(1)
    sum += other
    #expect(sum.counts == [2, 0, 2] && sum.sumNs == 10_100_000)
  }

  @Test("as text it is what it was, in whole microseconds")
  func text() throws {
    var times = DurationHistogram(boundsUs: [100, 1_000])
    for ns: UInt64 in [90_000, 110_000, 120_900, 7_000_000] { times.add(ns) }
    #expect(times.text == "100:1 1000:2 +:1 sum:7320")
    let read = try #require(DurationHistogram(text: times.text))
    #expect(read.boundsNs == times.boundsNs && read.counts == times.counts)
    #expect(read.sumNs == 7_320_000)
    #expect(DurationHistogram(text: read.text) == read)
  }

  @Test(
    "other text is none",
    arguments: [
      "", " ", "+:1", "sum:1", "sum:1 +:1", "+:1 sum:-1", "+:-1 sum:1", "100:1 sum:1",
      "100:1 100:2 +:0 sum:1", "200:1 100:2 +:0 sum:1", "100:x +:0 sum:1", "100 +:0 sum:1",
      "100:1:2 +:0 sum:1", "100:1  +:0 sum:1", "100:1 +:0 sum:1 ", "-1:1 +:0 sum:1",
      "100:1 +:0 sum:99999999999999999999", "100:99999999999999999999 +:0 sum:1",
      "１００:1 +:0 sum:1", String(repeating: "1", count: 2_000),
      (1...64).map { "\($0):0 " }.joined() + "+:0 sum:0",
    ])
  func refuses(text: String) {
    #expect(DurationHistogram(text: text) == nil)
  }

  @Test("the largest numbers that are read are reckoned with, and do not overflow")
  func largest() throws {
    let most = "999999999999999"
    let read = try #require(DurationHistogram(text: "\(most):\(most) +:\(most) sum:\(most)"))
    var sum = read
    for _ in 0..<1_000 { sum += read }
    #expect(sum.counts[0] == 1_001 * 999_999_999_999_999)
  }
}
