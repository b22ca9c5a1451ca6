import LocalServices
import Reactor
import Testing

@testable import Operations

@Suite struct MetricsFormatTests {
  private static var families: [MetricFamily] {
    var pushes = MetricFamily(.pushes)
    pushes.add(12, ["app": "shop", "network": "apns", "outcome": "accepted"])
    var info = MetricFamily(.workerInfo)
    info.add(1, ["worker": "w\"1\\\n", "host": "", "version": "ü"])
    var times = DurationHistogram(boundsUs: [100, 1_000_000])
    for ns: UInt64 in [50_000, 60_000, 2_000_000, 5_500_000_000] { times.add(ns) }
    var lag = MetricFamily(.loopLag)
    lag.add(times, ["worker": "w2"])
    var started = MetricFamily(.started)
    started.add(ms: 1_790_000_000_250, ["worker": "w2"])
    return [pushes, info, lag, started, MetricFamily(.alarm)]
  }

  @Test("the text format has help, type and samples of each metric that has any")
  func prometheus() {
    #expect(
      MetricsFormat.prometheus.text(Self.families) == """
        # HELP pushpool_pushes_total Installations that ended, by outcome, since the totals of the fleet began.
        # TYPE pushpool_pushes_total counter
        pushpool_pushes_total{app="shop",network="apns",outcome="accepted"} 12
        # HELP pushpool_worker_info Always 1: the host and the version of a worker.
        # TYPE pushpool_worker_info gauge
        pushpool_worker_info{worker="w\\"1\\\\\\n",version="ü"} 1
        # HELP pushpool_loop_lag_seconds How long a lane took to answer its own process, asked once a second.
        # TYPE pushpool_loop_lag_seconds histogram
        pushpool_loop_lag_seconds_bucket{worker="w2",le="0.0001"} 2
        pushpool_loop_lag_seconds_bucket{worker="w2",le="1.0"} 3
        pushpool_loop_lag_seconds_bucket{worker="w2",le="+Inf"} 4
        pushpool_loop_lag_seconds_sum{worker="w2"} 5.50211
        pushpool_loop_lag_seconds_count{worker="w2"} 4
        # HELP pushpool_worker_start_time_seconds When a worker started, by Redis's clock.
        # TYPE pushpool_worker_start_time_seconds gauge
        pushpool_worker_start_time_seconds{worker="w2"} 1790000000.25

        """)
  }

  @Test("OpenMetrics names a counter without its end, and says where the text ends")
  func openMetrics() {
    let text = MetricsFormat.openMetrics.text(Self.families)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("# HELP pushpool_pushes Installations") == true)
    #expect(lines[1] == "# TYPE pushpool_pushes counter")
    #expect(lines[2].hasPrefix("pushpool_pushes_total{"))
    #expect(lines.last == "# EOF" && text.hasSuffix("# EOF\n"))
    let samples = { (text: String) in text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
    #expect(samples(text) == samples(MetricsFormat.prometheus.text(Self.families)))
    #expect(MetricsFormat.openMetrics.text([]) == "# EOF\n")
    #expect(MetricsFormat.prometheus.text([]).isEmpty)
  }

  @Test("the end of every metric's name says what it is")
  func names() {
    for metric in Metric.allCases {
      let name = metric.rawValue
      #expect(name.hasPrefix("pushpool_"), "\(name)")
      #expect(name.hasSuffix("_total") == (metric.kind == .counter), "\(name)")
      #expect(metric.kind != .histogram || name.hasSuffix("_seconds"), "\(name)")
      #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(name)")
    }
    #expect(Set(Metric.allCases.flatMap(\.sampleNames)).count == Metric.allCases.count + 6)
  }

  @Test("promtool finds nothing to say", .enabled(if: Promtool.isInstalled))
  func check() async throws {
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let file = folder.file("metrics")
    try PrivateFile.write(MetricsFormat.prometheus.text(Self.families), to: file)
    let said = try await Promtool.run("check", "metrics", reading: file)
    #expect(said.isEmpty, "\(said)")
  }
}
