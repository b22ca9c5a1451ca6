import Testing

@testable import Store

/// What the records of ended jobs come to, by numbers.
@Suite struct RecordForecastTests {
  private static let week = 604_800.0
  private static let gibibyte = 1_073_741_824

  private static func settings(
    maxGiB: Int = 40, memoryBytes: Int = 5 * gibibyte, expiring: Int = 0, systemGiB: Int = 64
  ) -> RedisSettings {
    RedisSettings(
      info: """
        used_memory:\(memoryBytes)\r
        total_system_memory:\(systemGiB * gibibyte)\r
        maxmemory:\(maxGiB * gibibyte)\r
        db0:keys=\(expiring + 7),expires=\(expiring),avg_ttl=1\r
        """)
  }

  private static func forecast(
    _ perSecond: Double, _ seconds: Double = week, _ settings: RedisSettings = settings()
  ) -> RecordForecast {
    RecordForecast(jobsPerSecond: perSecond, secondsKept: seconds, settings: settings)
  }

  @Test func `a thousand jobs a second for a week are 190 GiB, and the warning has its figures`()
    throws
  {
    let warning = try #require(Self.forecast(1_000).warning)
    for words in [
      "190.4 GiB", "1000 jobs a second", "168.0 h in the mean", "Other data take 5.0 GiB",
      "maxmemory is 40.0 GiB", "full in 30.9 h",
      "jobs.retention_hours, jobs.named_retention_hours, jobs.unnamed_retention_minutes",
    ] { #expect(warning.contains(words), "\(words): \(warning)") }
  }

  @Test func `figures that will do are told without a warning`() {
    let summary = Self.forecast(100, 86_400).summary
    for words in [
      "come to 2.7 GiB", "100 jobs a second", "24.0 h in the mean; other data take 5.0 GiB",
      "maxmemory is 40.0 GiB",
    ] { #expect(summary.contains(words), "\(words): \(summary)") }
    #expect(Self.forecast(100, 86_400).warning == nil)
  }

  @Test(
    "ten million devices and records fill 40 GiB by the rates that the guide tells",
    arguments: [(604_800.0, 184.0), (86_400.0, 1_287.0), (3_600.0, 30_886.0)])
  func bears(seconds: Double, perSecond: Double) {
    let all = Self.forecast(perSecond, seconds)
    #expect(abs(all.recordBytes + all.otherBytes - all.bytesMax) < all.bytesMax / 100)
    #expect(all.isTooMuch)
    #expect(!Self.forecast(perSecond * 0.8, seconds).isTooMuch, "a tenth is left free")
  }

  @Test func `records that are there already count once`() {
    let records = 90_000_000
    let full = Self.settings(memoryBytes: 5 * Self.gibibyte + records * 338, expiring: records)
    let forecast = Self.forecast(150, Self.week, full)
    #expect(forecast.otherBytes == Double(5 * Self.gibibyte))
    #expect(!forecast.isTooMuch)
    #expect(Self.forecast(200, Self.week, full).isTooMuch)
  }

  @Test func `without maxmemory the machine's memory counts, and where neither is told nothing`() {
    let machine = Self.forecast(1_000, Self.week, Self.settings(maxGiB: 0))
    #expect(machine.warning?.contains("the memory of its machine is 64.0 GiB") == true)
    let unknown = Self.settings(maxGiB: 0, systemGiB: 0)
    #expect(Self.forecast(1_000, Self.week, unknown).warning == nil)
  }

  @Test(
    arguments: [
      (Double.nan, week), (Double.infinity, week), (-1.0, week), (1_000.0, Double.nan), (0.0, week),
    ])
  func `figures that are none are no warning`(perSecond: Double, seconds: Double) {
    #expect(Self.forecast(perSecond, seconds).warning == nil)
  }

  @Test func `figures beyond all measure are told and fit`() {
    #expect(Self.forecast(1e300, 1e300).warning != nil)
    let huge = RedisSettings(
      info: "used_memory:9223372036854775807\r\nmaxmemory:1\r\n"
        + "db0:expires=9223372036854775807\r\ndb1:expires=9223372036854775807\r\n")
    #expect(huge.expiringKeys == .max)
    #expect(Self.forecast(1, Self.week, huge).warning != nil)
  }

  @Test func `a rate is told of half an hour or more, and of no counter that began anew`() {
    let hour = EndedJobs(count: 7_200, atMs: 3_600_000)
    #expect(EndedJobs(count: 0, atMs: 0).perSecond(until: hour) == 2)
    #expect(EndedJobs(count: 0, atMs: 1_800_001).perSecond(until: hour) == nil)
    #expect(EndedJobs(count: 7_201, atMs: 0).perSecond(until: hour) == nil)
    #expect(EndedJobs(count: 0, atMs: .min).perSecond(until: hour) == nil)
  }
}
