package import Reactor

/// One metric of the fleet with its samples.
package typealias MetricFamily = NamedMetricFamily<Metric>

/// One line of a metric.
package struct MetricSample: Sendable, Equatable {
  /// Behind the metric's name: `_bucket`, `_sum` or `_count` of a histogram.
  var suffix = ""
  var labels: [(name: String, value: String)]
  /// As it is written.
  let value: String

  package static func == (one: MetricSample, other: MetricSample) -> Bool {
    one.suffix == other.suffix && one.value == other.value
      && one.labels.elementsEqual(other.labels) { $0 == $1 }
  }
}

/// One metric with its samples, in the order in which they are told.
package struct NamedMetricFamily<Name: MetricName>: Sendable, Equatable {
  package let metric: Name
  package private(set) var samples: [MetricSample] = []

  package init(_ metric: Name) { self.metric = metric }

  /// - Parameter labels: those with an empty value are left out, which means the same.
  package mutating func add(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
    samples.append(MetricSample(labels: Self.filled(labels), value: String(value)))
  }

  package mutating func add(seconds: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    samples.append(MetricSample(labels: Self.filled(labels), value: String(seconds)))
  }

  package mutating func add(ms: Int64, _ labels: KeyValuePairs<String, String> = [:]) {
    add(seconds: Double(ms) / 1_000, labels)
  }

  /// Each bucket has what is in those before it as well.
  package mutating func add(_ times: DurationHistogram, _ labels: KeyValuePairs<String, String>) {
    let labels = Self.filled(labels)
    var count = 0
    for (bucket, inBucket) in times.counts.enumerated() {
      count += inBucket
      let bound =
        bucket < times.boundsNs.count
        ? String(Double(times.boundsNs[bucket]) / 1_000_000_000) : "+Inf"
      samples.append(
        MetricSample(suffix: "_bucket", labels: labels + [("le", bound)], value: String(count)))
    }
    let seconds = String(Double(times.sumNs) / 1_000_000_000)
    samples.append(MetricSample(suffix: "_sum", labels: labels, value: seconds))
    samples.append(MetricSample(suffix: "_count", labels: labels, value: String(count)))
  }

  private static func filled(
    _ labels: KeyValuePairs<String, String>
  ) -> [(name: String, value: String)] {
    labels.filter { !$0.value.isEmpty }.map { (name: $0.key, value: $0.value) }
  }
}
