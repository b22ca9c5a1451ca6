import Model
import Testing

@testable import Server

@Suite struct AnswerTimesTests {
  @Test("a percentile is the bound within which so many answers came")
  func percentiles() {
    var times = AnswerTimes()
    #expect(times.boundMs(percent: 50) == nil)
    times.add(50, boundMs: 10)
    times.add(49, boundMs: 50)
    times.add(1, boundMs: 60_000)
    #expect(times.boundMs(percent: 50) == 10)
    #expect(times.boundMs(percent: 90) == 50)
    #expect(times.boundMs(percent: 99) == 50)
    times.add(1, boundMs: 60_000)
    #expect(times.boundMs(percent: 99) == 60_000)
    times.add(.max, boundMs: 1)
    #expect(times.boundMs(percent: 50) == 1)
  }

  @Test("a field that names no bucket is none")
  func buckets() {
    let bucket = AnswerTimes.bucket("fcm|20")
    #expect(bucket?.network == .fcm && bucket?.boundMs == 20)
    for field in ["", "fcm", "fcm|", "fcm|0", "fcm|-5", "fcm|20|", "other|20", "fcm|2x"] {
      #expect(AnswerTimes.bucket(field) == nil, "\(field)")
    }
  }

  @Test("of too many bounds the first are kept")
  func bounds() {
    var times = AnswerTimes()
    for boundMs in 1...ServerLimits.chartBoundsMax { times.add(1, boundMs: boundMs) }
    times.add(1, boundMs: 60_000)
    times.add(1, boundMs: 1)
    #expect(times.total == ServerLimits.chartBoundsMax + 1)
    #expect(times.boundMs(percent: 100) == ServerLimits.chartBoundsMax)
  }
}
