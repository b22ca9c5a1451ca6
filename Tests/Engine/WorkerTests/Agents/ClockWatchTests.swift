import Logging
import Providers
import Synchronization
import Testing

@testable import Worker

@Suite struct ClockWatchTests {
  private let lines = LogLines()

  @Test("a machine's clock that is wrong is an alarm, logged when it begins, changes and is over")
  func tellsDifference() {
    let nowMs = Mutex<Int64>(1_790_000_000_000)
    let clock = FleetClock(own: WallClock { 1_790_000_000_000 })
    let watch = ClockWatch(clock: clock, worker: "w", log: lines.logger)
    func set(aheadMs: Int64) {
      let atNs = UInt64(FleetClock.uptimeMs) * 1_000_000
      let serverMs = nowMs.withLock { $0 } - aheadMs
      clock.learn(serverMs: serverMs, sentNs: atNs, receivedNs: atNs)
      watch.report()
    }
    set(aheadMs: 10_000)
    #expect(watch.alarmCondition == nil && lines.all.isEmpty)
    set(aheadMs: 3_600_000)
    #expect(watch.alarmCondition?.field == "clock|w")
    #expect(lines.all.count == 1 && lines.has(.error, "3600 s ahead of Redis's clock"))
    set(aheadMs: 3_590_000)
    #expect(lines.all.count == 1)
    set(aheadMs: -3_600_000)
    #expect(lines.all.count == 2 && lines.has(.error, "3600 s behind Redis's clock"))
    set(aheadMs: 0)
    #expect(watch.alarmCondition == nil)
    #expect(lines.all.count == 3 && lines.has(.notice, "agrees with Redis's again"))
  }
}
