import Logging
import Testing

@testable import Worker

@Suite struct MemoryWatchTests {
  @Test("memory near the limit of the control group is an alarm, logged when it begins")
  func tells() throws {
    let lines = LogLines()
    var (bytes, bytesMax): (Int, Int?) = (100 << 20, 256 << 20)
    let watch = MemoryWatch(
      worker: "w-1", bytesMax: { bytesMax }, residentBytes: { bytes }, log: lines.logger)
    watch.report()
    #expect(watch.alarmCondition == nil && lines.all.isEmpty)
    bytes = 240 << 20
    for _ in 0..<3 { watch.report() }
    let condition = try #require(watch.alarmCondition)
    #expect(condition.field == "memory|w-1")
    #expect(condition.sentence.contains("240 MiB of the 256 MiB"))
    #expect(lines.all.count == 1 && lines.has(.error, "is killed at the limit"))
    // Somebody has raised the limit, or taken it away.
    for next in [1_024 << 20, nil] {
      bytesMax = next
      watch.report()
      #expect(watch.alarmCondition == nil)
    }
  }
}
