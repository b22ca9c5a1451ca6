import Model
import Testing

@testable import Server

@Suite struct CourseTests {
  @Test("the pace of now is that of the last seconds")
  func recentPace() {
    var series = PaceSeries()
    #expect(series.perSecond == nil)
    for second in 0...30 {
      let settled = second <= 20 ? second * 100 : 2_000 + (second - 20) * 10
      series.add(.init(atMs: Int64(second) * 1_000, settled: settled, accepted: settled))
    }
    #expect(series.perSecond == 10)
    #expect(series.points.count == 31)
  }

  @Test("a long job keeps its beginning, its end and a bounded number of points")
  func longJobs() {
    var series = PaceSeries()
    for second in 0..<20_000 {
      series.add(.init(atMs: Int64(second) * 1_000, settled: second, accepted: 0))
    }
    #expect(series.points.count <= ServerLimits.pacePointsMax)
    #expect(series.points.count >= ServerLimits.pacePointsMax / 3)
    #expect(series.points.first?.atMs == 0 && series.points.last?.atMs == 19_999_000)
    #expect(zip(series.points, series.points.dropFirst()).allSatisfy { $0.atMs < $1.atMs })
  }

  @Test("a count that falls begins the series anew")
  func resets() {
    var series = PaceSeries()
    series.add(.init(atMs: 1_000, settled: 10, accepted: 10))
    series.add(.init(atMs: 2_000, settled: 5, accepted: 5))
    #expect(series.points.count == 1 && series.perSecond == nil)
  }

  @Test("the pace of a job that ended is kept for a while, and of no more jobs than fit")
  func forgets() {
    func job(_ id: String, settled: Int) -> JobRecord {
      var job = JobRecord(app: "shop", id: id, state: .running)
      job.isAdmitted = true
      job.counts.accepted = settled
      return job
    }
    var history = PaceHistory()
    history.add([job("a", settled: 1)], ended: [], nowMs: 1_000)
    var ended = job("a", settled: 9)
    ended.finishedAtMs = 1_500
    history.add([], ended: [ended, job("never seen", settled: 1)], nowMs: 2_000)
    #expect(history.series(app: "shop", id: "a")?.points.last?.settled == 9)
    #expect(history.series(app: "shop", id: "never seen") == nil)
    let many = (0..<ServerLimits.paceJobsMax).map { job("job-\($0)", settled: 0) }
    history.add(many, ended: [], nowMs: 3_000)
    #expect(history.series(app: "shop", id: "a") == nil)
    #expect(history.series(app: "shop", id: "job-0") != nil)
    history.add([], ended: [], nowMs: 3_000 + ServerLimits.paceKeptMs)
    #expect(history.series(app: "shop", id: "job-0") == nil)
  }

  @Test("the minutes that are missing are those that are over, of the last hour")
  func missingMinutes() {
    let now: Int64 = 100 * 60_000 + 30_000
    #expect(MinuteHistory.missing(after: nil, nowMs: now).count == ServerLimits.historyMinutes)
    #expect(MinuteHistory.missing(after: nil, nowMs: now).last == Int64(99 * 60_000))
    #expect(MinuteHistory.missing(after: 98 * 60_000, nowMs: now) == [99 * 60_000])
    #expect(MinuteHistory.missing(after: 99 * 60_000, nowMs: now).isEmpty)
    // Redis is another, whose clock is behind.
    #expect(
      MinuteHistory.missing(after: 200 * 60_000, nowMs: now)
        == MinuteHistory.missing(after: nil, nowMs: now))
    #expect(MinuteHistory.missing(after: nil, nowMs: 0).isEmpty)
  }

  @Test("a minute counts what was accepted, and all other ends together")
  func countsMinutes() {
    var minute = MinuteHistory.Minute(atMs: 0)
    minute.add([
      "shop|apns|accepted": 5, "news|fcm|accepted": 2, "shop|apns|failed": 3,
      "shop|none|skipped": 1, "shop|apns|retries": 100, "nothing": 7, "a|b|rejected": -4,
    ])
    #expect(minute.accepted == 7 && minute.others == 4)
    var history = MinuteHistory()
    history.add((0..<100).map { MinuteHistory.Minute(atMs: Int64($0) * 60_000) })
    #expect(history.minutes.count == ServerLimits.historyMinutes)
    #expect(history.lastMs == Int64(99 * 60_000))
  }
}
