import LocalServices
import Testing

@testable import Chaos

@Suite("delivery times beside rewrites")
struct DeliveryTimesTests {
  /// Jobs that were enqueued each 10 ms from the start of a span on, and accepted after these times.
  private static func times(before: [Int64], during: [Int64]) -> DeliveryTimes {
    var starts: DeliveryTimes.Starts = [:]
    var accepts: [Int: Int64] = [:]
    for (first, times) in [(Int64(0), before), (100_000, during)] {
      for (index, ms) in times.enumerated() {
        let job = starts.count
        starts[job] = first + Int64(index) * 10
        accepts[job] = first + Int64(index) * 10 + ms
      }
    }
    return DeliveryTimes(
      starts, accepts: accepts, before: 0..<100_000, during: 100_000..<200_000)
  }

  @Test("fails when the p99 is over twice that of before and 10 ms more, at full size only")
  func limits() {
    let calm = [Int64](repeating: 5, count: 98) + [20, 1_000]
    let kept = Self.times(before: calm, during: calm.map { $0 == 20 ? 50 : $0 })
    #expect(kept.failure(isLimited: true) == nil)
    let broken = Self.times(before: calm, during: calm.map { $0 == 20 ? 51 : $0 })
    #expect(broken.failure(isLimited: true)?.contains("51 ms (p99)") == true)
    #expect(broken.failure(isLimited: false) == nil)
    #expect(
      broken.sentence.contains("p50 5 ms, p99 20 ms, at most 1000 ms of 100 before the rewrites"))
  }

  @Test("fails at any size when nothing was timed")
  func needsTimes() {
    #expect(Self.times(before: [], during: [5]).failure(isLimited: false) != nil)
    #expect(Self.times(before: [5], during: []).failure(isLimited: false) != nil)
    #expect(Self.times(before: [5], during: [5]).failure(isLimited: true) == nil)
  }

  @Test("counts only jobs that were enqueued within a span and accepted")
  func countsWithin() {
    let times = DeliveryTimes(
      [1: 10, 2: 99, 3: 100, 4: 200, 5: 50], accepts: [1: 12, 2: 103, 3: 104, 4: 900],
      before: 0..<100, during: 100..<200)
    #expect(times.sentence.contains("at most 4 ms of 2 before"))
    #expect(times.sentence.contains("at most 4 ms of 1 during"))
  }

  @Test("takes the first accept of each job from the log")
  func readsLog() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("accepted.log")
    let token = Crowd(app: "other", count: 10).tokenText(3)
    let lines = [(40, 1), (41, 2), (45, 1), (46, 3)].map { ms, job in
      "\(ms) apns \(token) \(LedgerEntry.topicStart)\(job) 1 3 00ff\n"
    }
    try PrivateFile.write(lines.joined(), to: file)
    #expect(try AcceptLogFile.firstAccepts(of: [1, 3, 4], file) == [1: 40, 3: 46])
    #expect(try AcceptLogFile.accepts(within: 41..<46, file) == 2)
  }
}
