/// The type of a metric, as monitors know it.
package enum MetricKind: String, Sendable {
  case counter, gauge, histogram
}

/// The metrics of one program or thing, each once, as an enumeration of their names.
package protocol MetricName: RawRepresentable<String>, Sendable, Equatable {
  var kind: MetricKind { get }
  /// One sentence, as monitors show it.
  var help: String { get }
}

extension MetricName {
  /// The names under which its samples stand.
  package var sampleNames: [String] {
    kind == .histogram ? ["_bucket", "_sum", "_count"].map { rawValue + $0 } : [rawValue]
  }
}
