/// How long single pushes took, in milliseconds.
package struct LatencyFigures: Sendable, Equatable {
  package var p50Ms: Double
  package var p99Ms: Double
  package var maxMs: Double

  /// Nil without any sample.
  package init?(_ samples: [Double]) {
    guard let p50 = Samples.percentile(samples, 0.5), let p99 = Samples.percentile(samples, 0.99),
      let max = samples.max()
    else { return nil }
    p50Ms = p50
    p99Ms = p99
    maxMs = max
  }
}
