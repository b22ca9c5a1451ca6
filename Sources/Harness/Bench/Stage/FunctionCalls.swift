/// How long Redis took for the calls of functions, each of which keeps everybody else waiting.
package struct FunctionCalls: Sendable, Equatable {
  package var p50Ms: Double
  package var p99Ms: Double
  /// Nil when none took long enough to be noted.
  package var longestMs: Double?

  /// INFO's section `latencystats`; nil when no function was called.
  package init?(info: String, longestMs: Double?) {
    let name = "latency_percentiles_usec_fcall:"
    guard let line = info.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix(name) })
    else { return nil }
    var percentiles: [Substring: Double] = [:]
    for part in line.dropFirst(name.count).split(separator: ",") {
      let sides = part.split(separator: "=")
      if sides.count == 2 { percentiles[sides[0]] = Double(sides[1]) }
    }
    guard let p50 = percentiles["p50"], let p99 = percentiles["p99"] else { return nil }
    p50Ms = p50 / 1_000
    p99Ms = p99 / 1_000
    self.longestMs = longestMs
  }

  /// The longest call of a run, the median of the runs: a single one is as long as the system leaves Redis without a core.
  /// What was not noted took no longer than what is noted takes.
  package static func longestMs(_ runs: [FunctionCalls]) -> Double? {
    Samples.median(
      runs.map { $0.longestMs ?? Double(BenchLimits.notedCallMicroseconds) / 1_000 })
  }

  var text: String {
    let longest =
      longestMs.map { "the longest \(Figure.text($0, decimals: 1)) ms" }
      ?? "none \(BenchLimits.notedCallMicroseconds / 1_000) ms"
    return "half of the function calls took Redis \(Figure.text(p50Ms, decimals: 1)) ms, \(longest)"
  }
}
